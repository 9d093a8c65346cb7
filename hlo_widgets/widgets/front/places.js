// Where items of a picture are: which lie together, and which the user looks at.

/** Where the top middle of an item is on the screen. */
function placeOf(item, { scale, x, y }) {
  return [(item.x + item.width / 2) * scale + x, item.y * scale + y];
}

/** The area of two items. */
function around(one, other) {
  const x = Math.min(one.x, other.x);
  const y = Math.min(one.y, other.y);
  return {
    x, y,
    width: Math.max(one.x + one.width, other.x + other.width) - x,
    height: Math.max(one.y + one.height, other.y + other.height) - y,
  };
}

/** The area of an item and of as many that arrows join to it, the nearest first, as the pane shows together. */
function withNeighbours(start, arrows, items, camera) {
  const room = camera.size();
  const fits = ({ width, height }) =>
    width * camera.scale <= room.width - 2 * EDGE_PX && height * camera.scale <= room.height - 2 * EDGE_PX;
  const reach = (item) => {
    const { width, height } = around(start, item);
    return width + height;
  };
  const joined = arrows
    .filter(({ tail, head }) => tail === start.id || head === start.id)
    .map(({ tail, head }) => items.get(tail === start.id ? head : tail))
    .filter(Boolean)
    .sort((one, other) => reach(one) - reach(other));
  return joined.reduce((area, item) => (fits(around(area, item)) ? around(area, item) : area), start);
}

/** Of the boxes of a picture that are in the next one, too, the id of the nearest to the middle of the pane. */
function inTheMiddle(items, next, camera) {
  const { width, height } = camera.size();
  let nearest = null, least = Infinity;
  for (const [id, item] of items) {
    if (item.open || !next.has(id)) continue;
    const [x, y] = placeOf(item, camera);
    const distance = Math.hypot(x - width / 2, y - height / 2);
    if (distance < least) [nearest, least] = [id, distance];
  }
  return nearest;
}
