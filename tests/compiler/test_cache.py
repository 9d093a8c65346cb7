"""The cache of compiled texts, on the CPU's compiler."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import textwrap
import time

import jax
import jax.numpy as jnp
import pytest

from hlo_widgets.compiler import compile_for, settings
from hlo_widgets.compiler.cache import Cache, cache_key, configured_cache
from hlo_widgets.compiler.pool import workers
from hlo_widgets.compiler.process import Reply
from hlo_widgets.compiler.settings import CompilerSettings
from hlo_widgets.errors import CompileError
from tests.compiler.support import add_one, clean_environment

compile_cpu = functools.partial(compile_for, target="cpu")
SPEC = jax.ShapeDtypeStruct((8, 4), jnp.float32)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "cache_folder", str(tmp_path / "cache"))
    return tmp_path / "cache"


def entries(folder):
    return sorted(folder.glob("*.compiled"))


def test_an_identical_compile_comes_from_the_disk_and_is_marked(folder):
    first = compile_cpu(add_one, SPEC)
    second = compile_cpu(add_one, SPEC)
    assert (first.is_cached, second.is_cached) == (False, True)
    assert second.hlo_text == first.hlo_text
    assert second.compile_seconds == first.compile_seconds
    assert (second.versions, second.notes) == (first.versions, first.notes)
    assert len(entries(folder)) == 1


def test_refresh_compiles_again_and_keeps_the_new_one(folder):
    first = compile_cpu(add_one, SPEC)
    again = compile_cpu(add_one, SPEC, refresh=True)
    assert not again.is_cached
    assert again.compile_seconds != first.compile_seconds
    assert compile_cpu(add_one, SPEC).compile_seconds == again.compile_seconds


@pytest.mark.parametrize(
    ("fun", "spec", "flags"),
    [
        (lambda x: x + 2, SPEC, None),
        (add_one, jax.ShapeDtypeStruct((8, 5), jnp.float32), None),
        (add_one, SPEC, {"xla_cpu_enable_fast_math": True}),
    ],
    ids=["program", "shape", "flags"],
)
def test_what_differs_is_compiled(folder, fun, spec, flags):
    compile_cpu(add_one, SPEC)
    assert not compile_cpu(fun, spec, flags=flags).is_cached


def test_the_compilers_environment_and_version_count(folder, monkeypatch):
    compile_cpu(add_one, SPEC)
    before = workers.process_id("cpu")
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true")
    assert not compile_cpu(add_one, SPEC).is_cached
    assert workers.process_id("cpu") != before  # a warm worker would not have seen it
    assert cache_key({}, b"", {"jaxlib": "1"}) != cache_key({}, b"", {"jaxlib": "2"})
    assert cache_key({"a": 1}, b"", {}) != cache_key({"a": 2}, b"", {})
    assert cache_key({}, b"x", {}) != cache_key({}, b"y", {})


def test_errors_are_not_kept(folder):
    for _ in range(2):
        with pytest.raises(CompileError):
            compile_cpu(add_one, SPEC, flags={"xla_nonsense": 1})
    assert entries(folder) == []


@pytest.mark.parametrize("damage", [b"", b"HLOW", b"something else entirely", None])
def test_a_damaged_entry_is_compiled_again(folder, damage):
    text = compile_cpu(add_one, SPEC).hlo_text
    (path,) = entries(folder)
    path.write_bytes(path.read_bytes()[:-20] if damage is None else damage)
    again = compile_cpu(add_one, SPEC)
    assert (again.is_cached, again.hlo_text) == (False, text)
    assert compile_cpu(add_one, SPEC).is_cached


def test_an_entry_that_lacks_something_is_compiled_again(folder):
    text = compile_cpu(add_one, SPEC).hlo_text
    (path,) = entries(folder)
    Cache(folder, 10**9).store(path.stem, Reply({"kind": "compiled"}, b"HloModule"))
    again = compile_cpu(add_one, SPEC)
    assert (again.is_cached, again.hlo_text) == (False, text)


def test_the_least_recently_used_goes_first(tmp_path):
    body = bytes(range(256)) * 40
    cache = Cache(tmp_path, limit_bytes=10**9)
    cache.store("a", Reply({"kind": "compiled"}, body))
    one = cache.size_bytes()
    cache = Cache(tmp_path, limit_bytes=3 * one)
    for key in "bc":
        cache.store(key, Reply({"kind": "compiled"}, body))
    for age, path in enumerate(reversed(entries(tmp_path)), start=1):
        then = time.time() - 60 * age  # a is the oldest, as if each were used a minute later
        os.utime(path, (then, then))
    assert cache.load("a").body == body  # used now: b is the oldest
    cache.store("d", Reply({"kind": "compiled"}, body))
    assert cache.load("b") is None
    assert all(cache.load(key) is not None for key in "acd")
    assert cache.size_bytes() <= cache.limit_bytes


def test_explained_results_keep_to_the_limit_as_well(folder, monkeypatch):
    result = compile_cpu(add_one, SPEC, explain=True)
    (entry,) = entries(folder)
    assert len(result.records) > 0
    size = entry.stat().st_size
    assert len(result.records) < size < len(result.records) + len(result.hlo_text) + 4096
    monkeypatch.setattr(settings, "cache_bytes", 3 * size)
    for number in range(2, 6):
        compile_cpu(functools.partial(jnp.add, float(number)), SPEC, explain=True)
        assert Cache(folder, 0).size_bytes() <= 3 * size
    assert len(entries(folder)) in {2, 3}
    assert not compile_cpu(add_one, SPEC, explain=True).is_cached  # the oldest had to go


def test_a_large_entry_does_not_push_out_the_others(tmp_path):
    cache = Cache(tmp_path, limit_bytes=10_000)
    cache.store("small", Reply({}, b"x"))
    cache.store("large", Reply({}, os.urandom(9_900)))
    assert cache.load("small") is not None
    assert cache.load("large") is None


def test_what_is_larger_than_the_cache_is_not_kept(tmp_path):
    cache = Cache(tmp_path, limit_bytes=10)
    cache.store("a", Reply({}, b"0123456789" * 100))
    assert cache.load("a") is None
    assert cache.size_bytes() == 0


def test_a_folder_that_cannot_be_made_costs_the_cache_alone(folder):
    folder.write_text("a file where the folder should be")
    assert not compile_cpu(add_one, SPEC).is_cached
    assert not compile_cpu(add_one, SPEC).is_cached


def test_where_it_is_and_how_it_is_turned_off(monkeypatch, tmp_path):
    own = CompilerSettings()
    assert configured_cache(own) is None  # the suite's own environment says "off"
    monkeypatch.setenv("HLO_WIDGETS_CACHE", str(tmp_path))
    assert configured_cache(own) == Cache(tmp_path, own.cache_bytes)
    own.cache_folder = "elsewhere"
    assert configured_cache(own).folder.name == "elsewhere"
    own.cache_bytes = 0
    assert configured_cache(own) is None
    monkeypatch.delenv("HLO_WIDGETS_CACHE")
    assert "hlo_widgets" in str(configured_cache(CompilerSettings()).folder)


WRITER = """
    import os, sys
    from pathlib import Path
    from hlo_widgets.compiler.cache import Cache
    from hlo_widgets.compiler.process import Reply

    me, folder = sys.argv[1], Path(sys.argv[2])
    cache = Cache(folder, limit_bytes=60_000)
    damaged = 0
    for turn in range(300):
        key = f"key{turn % 20}"
        body = key.encode() + os.urandom(5000)  # nothing to compress: twenty are too many
        cache.store(key, Reply({"kind": "compiled", "by": me}, body))
        found = cache.load(f"key{(turn * 7) % 20}")
        damaged += found is not None and not found.body.startswith(b"key")
    print("damaged", damaged)
"""


def test_two_processes_that_write_at_once(tmp_path):
    running = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(WRITER), name, str(tmp_path)],
            env=clean_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]
    for process in running:
        output, errors = process.communicate(timeout=120)
        assert (output, errors) == ("damaged 0\n", "")
    cache = Cache(tmp_path, limit_bytes=60_000)
    cache.store("last", Reply({}, b"x"))
    assert cache.size_bytes() <= 60_000
    assert list(tmp_path.glob("*.part")) == []


def test_another_process_finds_what_this_one_kept(folder):
    script = """
        import sys
        from hlo_widgets.compiler import compile_for, settings
        from tests.compiler.support import add_one
        from tests.compiler.test_cache import SPEC
        settings.cache_folder = sys.argv[1]
        print(compile_for(add_one, SPEC, target="cpu").is_cached)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(folder)]
    kept = [subprocess.check_output(command, text=True).strip() for _ in range(2)]
    assert kept == ["False", "True"]
