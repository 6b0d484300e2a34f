// Draws the diagram of docs/architecture.md from the imports of src; `npm run codegen` inserts it.
import { files, importsIn, sources } from './imports.mjs';

/** From top to bottom: imports lead down, or stay on a floor. What begins there, and its layers. */
const FLOORS = [
  {
    name: 'Programs: a command, a process',
    layers:
      'main.ts program.ts facade.ts extend.ts extension fetch-handler.ts embedding price.ts commands cli check doctor origin',
  },
  { name: 'Server: a route, a header, a capability', layers: 'server' },
  { name: 'Catalog: a field, a mutation', layers: 'graph' },
  { name: 'Engine and client: a cost, a cache, a call', layers: 'engine inspect upstream' },
  { name: 'Tables: an endpoint, a setting', layers: 'api atom config lib package.ts' },
].map(({ name, layers }) => ({ name, layers: layers.split(' ') }));

/** Mermaid: a box for each layer with its folders, and an arrow for each import that other arrows do not imply. */
export function architecture() {
  const arrows = new Map([...new Set(files.map(layerOf))].map((layer) => [layer, new Set()]));
  for (const file of files)
    for (const imported of importsIn(sources.get(file))) {
      const [from, to] = [layerOf(file), layerOf(imported)];
      if (from !== to) arrows.get(from).add(to);
    }
  for (const [from, targets] of arrows)
    for (const to of [...targets].sort()) {
      targets.delete(to);
      if (!reaches(arrows, from, to)) targets.add(to);
    }
  const shown = [...arrows].flatMap(([from, targets]) =>
    [...targets].sort().map((to) => `  ${id(from)} --> ${id(to)}`),
  );
  checkFloors(arrows);
  const boxes = FLOORS.flatMap(({ name, layers }, at) => [
    `  subgraph floor_${at + 1}["${name}"]`,
    ...layers.map((layer) => `    ${id(layer)}["${labelOf(layer)}"]`),
    '  end',
  ]);
  return ['```mermaid', 'flowchart TD', ...boxes, ...shown, '```'].join('\n');
}

/** Throws if a layer has no floor, or imports from a floor above its own. */
function checkFloors(arrows) {
  const floorOf = (layer) => FLOORS.findIndex(({ layers }) => layers.includes(layer));
  for (const [from, targets] of arrows) {
    if (floorOf(from) < 0) throw new Error(`src/${from} has no floor in scripts/architecture.mjs`);
    for (const to of targets)
      if (floorOf(to) < floorOf(from)) throw new Error(`src/${from} imports src/${to}, which is above it`);
  }
}

/** `src/graph/book/book.ts` -> `graph`, `src/main.ts` -> `main.ts`. */
const layerOf = (file) => file.split('/')[1];

/** The layer, and below it its folders. */
function labelOf(layer) {
  if (layer.endsWith('.ts')) return layer;
  const inside = files.filter((file) => layerOf(file) === layer).map((file) => file.slice(`src/${layer}/`.length));
  const folders = [...new Set(inside.filter((file) => file.includes('/')).map((file) => file.split('/')[0]))];
  return folders.length > 0 ? `${layer}<br/><small>${folders.join(' · ')}</small>` : layer;
}

/** Prefixed, because `graph` is a keyword of Mermaid. */
const id = (layer) => `layer_${layer.replace(/\.ts$/, '')}`;

function reaches(arrows, from, to, seen = new Set()) {
  if (seen.has(from)) return false;
  seen.add(from);
  return [...(arrows.get(from) ?? [])].some((next) => next === to || reaches(arrows, next, to, seen));
}
