// Which part of the picture is seen: position, scale, and the overview map.

const SCALES = [0.02, 4];
// Below these scales texts of 10 and of 12 pixels are no longer read: they are left out. Arbitrary.
const ZOOMS = [["far", 0.42], ["middle", 0.66], ["near", Infinity]];
const EDGE_PX = 12; // between an edge of the picture and the pane's
const MAP_SIZE = [144, 108]; // as in the style sheet

/** Position and scale of the picture in its pane. */
class Camera {
  constructor(pane, world, onMove) {
    Object.assign(this, { pane, world, onMove, x: 0, y: 0, scale: 1 });
  }

  move(x, y, scale = this.scale) {
    this.scale = Math.min(Math.max(scale, SCALES[0]), SCALES[1]);
    this.x = x;
    this.y = y;
    this.world.setAttribute("transform", `translate(${x} ${y}) scale(${this.scale})`);
    const [zoom] = ZOOMS.find(([, below]) => this.scale < below);
    if (this.pane.dataset.zoom !== zoom) this.pane.dataset.zoom = zoom;
    this.onMove();
  }

  /** Position and scale in one. */
  place() {
    return [this.x, this.y, this.scale];
  }

  isWhere(place) {
    return this.place().every((value, at) => value === place?.[at]);
  }

  zoom(factor, at) {
    const size = this.size();
    const [px, py] = at ?? [size.width / 2, size.height / 2];
    const scale = Math.min(Math.max(this.scale * factor, SCALES[0]), SCALES[1]);
    const ratio = scale / this.scale;
    this.move(px - (px - this.x) * ratio, py - (py - this.y) * ratio, scale);
  }

  size() {
    return { width: this.pane.clientWidth || 600, height: this.pane.clientHeight || 400 };
  }

  fit(picture, most = MOST_START_SCALE, least = SCALES[0]) {
    const { width, height } = this.size();
    const wanted = Math.min((width - 24) / picture.width, (height - 24) / picture.height, most);
    const scale = Math.max(wanted, least);
    this.scale = scale;
    this.move((width - picture.width * scale) / 2, (height - picture.height * scale) / 2, scale);
    return wanted >= least;
  }

  center(item) {
    const { width, height } = this.size();
    const x = item.x + item.width / 2;
    const y = item.y + Math.min(item.height / 2, height / this.scale / 2 - 20);
    this.move(width / 2 - x * this.scale, height / 2 - y * this.scale);
  }

  /** Waste no room beside the picture: move only as far as its edges come to the pane's. */
  fill(picture) {
    const { width, height } = this.size();
    const settled = (at, length, room) => {
      const spare = room - length;
      return spare > 0 ? spare / 2 : Math.min(Math.max(at, spare - EDGE_PX), EDGE_PX);
    };
    this.move(
      settled(this.x, picture.width * this.scale, width),
      settled(this.y, picture.height * this.scale, height),
    );
  }

  /** Come to an item at a scale at which it reads; of one that is too large then, to its top. */
  comeTo(item, picture) {
    const { width, height } = this.size();
    const room = Math.min((width - 2 * EDGE_PX) / item.width, (height - 2 * EDGE_PX) / item.height);
    this.scale = Math.min(Math.max(room, LEAST_START_SCALE), 1);
    this.center(item);
    this.fill(picture);
  }

  /** Whether an item lies wholly in the pane. */
  holds(item) {
    const { width, height } = this.size();
    const left = item.x * this.scale + this.x;
    const top = item.y * this.scale + this.y;
    return (
      left >= 0 && top >= 0 &&
      left + item.width * this.scale <= width &&
      top + item.height * this.scale <= height
    );
  }
}

/** The overview map: the whole picture small, with the part in the pane marked. */
class Overview {
  constructor(host, camera) {
    this.camera = camera;
    this.canvas = html("canvas", "hw-map", { role: "img", "aria-label": "Overview map: press to move the view" });
    host.append(this.canvas);
    this.canvas.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      this.canvas.setPointerCapture(event.pointerId);
      this.#goTo(event);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (event.buttons) this.#goTo(event);
    });
  }

  #goTo(event) {
    const { width, height } = this.camera.size();
    const x = (event.offsetX - this.left) / this.ratio;
    const y = (event.offsetY - this.top) / this.ratio;
    this.camera.move(width / 2 - x * this.camera.scale, height / 2 - y * this.camera.scale);
  }

  draw(picture, dark) {
    if (!this.camera.pane.clientWidth) return; // what is not shown has no size that counts
    const { width, height } = this.camera.size();
    const scale = this.camera.scale;
    const all = picture.width * scale <= width + 1 && picture.height * scale <= height + 1;
    this.canvas.hidden = all;
    if (all) return;
    const [wide, high] = MAP_SIZE;
    const pixels = devicePixelRatio || 1;
    if (this.canvas.width !== wide * pixels) {
      this.canvas.width = wide * pixels;
      this.canvas.height = high * pixels;
    }
    const paint = this.canvas.getContext("2d");
    paint.setTransform(pixels, 0, 0, pixels, 0, 0);
    paint.clearRect(0, 0, wide, high);
    this.ratio = Math.min((wide - 8) / picture.width, (high - 8) / picture.height);
    this.left = (wide - picture.width * this.ratio) / 2;
    this.top = (high - picture.height * this.ratio) / 2;
    const rect = (item, least) => [
      this.left + item.x * this.ratio, this.top + item.y * this.ratio,
      Math.max(item.width * this.ratio, least), Math.max(item.height * this.ratio, least),
    ];
    for (const item of [...picture.frames, ...picture.boxes]) {
      paint.fillStyle = item.fill[dark ? 1 : 0] + (item.expandable && item.open ? "55" : "");
      paint.strokeStyle = dark ? "#8b9096" : "#6b7580";
      paint.lineWidth = 0.3;
      paint.fillRect(...rect(item, 1.2));
      paint.strokeRect(...rect(item, 1.2));
    }
    paint.strokeStyle = dark ? "#ffd54f" : "#c2185b";
    paint.lineWidth = 1.5;
    const seen = { x: -this.camera.x / scale, y: -this.camera.y / scale, width: width / scale, height: height / scale };
    const [x, y, w, h] = rect(seen, 2);
    const x0 = Math.max(x, 1), y0 = Math.max(y, 1);
    paint.strokeRect(x0, y0, Math.min(x + w, wide - 1) - x0, Math.min(y + h, high - 1) - y0);
  }
}
