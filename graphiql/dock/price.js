/** The section of the price: what the document would cost, planned while it is written; what makes it cheaper; the calls of each field. */
import { parse } from 'graphql/language/parser.mjs';
import { editorOf, operationIn, requestInEditors, watchEditors } from '../editors.js';
import { button, element, tableWith } from '../element.js';
import { fieldsByPath } from './fields-by-path.js';
import { range } from './trace.js';

/** How long nothing is typed before the document is planned. */
const PAUSE_MS = 400;
const OPERATION = 'operation.graphql';

export function createPrice({ send, onAnswer }, person) {
  const text = element('span', { className: 'calls-price' });
  text.setAttribute('role', 'status');
  const content = element('div', { className: 'dock-list', tabIndex: 0, role: 'region', ariaLabel: 'What it costs' });
  const marks = createMarks();
  let last = 0;
  /** The document that was planned last, and its fewest calls before it was run. */
  let before = { query: '', min: 0 };
  person?.watch(update);
  onAnswer(update);

  async function update() {
    const request = requestInEditors();
    const number = ++last;
    const answer = request && (await planOf(request));
    if (number !== last) return; // a later text is being planned
    const query = request ? JSON.parse(request.body).query : '';
    const plan = answer?.plan;
    const fields = plan ? pricedFields(query, plan) : [];
    if (query.trim() !== before.query) before = { query: query.trim(), min: plan?.min ?? 0 };
    const isCached = plan?.min < before.min;
    text.textContent = plan ? `${textOf(plan)}${isCached ? ': fewer, because records are cached' : ''}` : '';
    text.classList.toggle('calls-over', plan?.limit !== undefined);
    content.replaceChildren(...(plan ? partsOf(plan, fields) : [noPrice(answer)]));
    marks(fields);
  }

  async function planOf({ headers, body }) {
    try {
      const planned = { ...headers, accept: 'application/json', 'x-explain': 'plan' };
      const answer = await (await send(location.pathname, { method: 'POST', headers: planned, body })).json();
      const { upstream, limit, stopsAt, hints = [] } = answer.extensions ?? {};
      return { plan: upstream?.fields && { ...upstream, limit, stopsAt, hints }, errors: answer.errors };
    } catch {
      return undefined; // the facade is unreachable
    }
  }

  return { name: 'Price', about: text, content, watch: () => watchEditors(update, PAUSE_MS) };
}

function textOf({ min, likely, max, fields, limit, stopsAt }) {
  const costliest = fields.reduce((a, b) => (b.max > (a?.max ?? 0) ? b : a), undefined);
  const calls = min === max ? `Costs ${counted(max)}` : `Costs about ${counted(likely)}, ${range(min, max)}`;
  const stops = stopsAt === undefined ? '' : `, stops at ${stopsAt}`;
  const over = limit === undefined ? stops : `, over the limit of ${limit}`;
  return costliest?.max > 1 && fields.length > 1
    ? `${calls}${over}, most for ${costliest.path} (${range(costliest.min, costliest.max)})`
    : `${calls}${over}`;
}

const counted = (calls) => `${calls} ${calls === 1 ? 'call' : 'calls'}`;

function noPrice(answer) {
  const [error] = answer?.errors ?? [];
  return element('p', {
    textContent: error ? `No price: ${error.message}` : 'A document has a price when it is complete.',
  });
}

/** The fields of the document in its order, each with its calls. */
function pricedFields(query, { fields }) {
  const places = fieldsByPath(parse(query), operationIn(query));
  const callsOf = new Map();
  for (const { path, endpoint, min, max } of fields) {
    const before = callsOf.get(path);
    callsOf.set(path, {
      min: min + (before?.min ?? 0),
      max: max + (before?.max ?? 0),
      endpoints: [...(before?.endpoints ?? []), endpoint],
    });
  }
  return [...places].map(([path, [node]]) => ({
    path,
    at: node.loc.start,
    end: node.name.loc.end,
    ...(callsOf.get(path) ?? { min: 0, max: 0 }),
  }));
}

function partsOf(plan, fields) {
  const { limit, stopsAt, likely, max, hints } = plan;
  const judged = element('p', {
    className: limit === undefined ? 'price-fine' : 'price-over',
    textContent:
      limit === undefined
        ? `Within the limits: about ${counted(likely)}, at most ${max}${stopsAt === undefined ? '' : `; it stops at ${stopsAt}`}.`
        : `Over the limit of ${limit}: it is refused before it runs. About ${counted(likely)}, at most ${max}.`,
  });
  const cheaper = hints.map((hint) => element('li', {}, hintButton(hint, limit ?? stopsAt, fields)));
  const told = cheaper.length > 0 ? [element('h3', { textContent: 'Cheaper' }), element('ul', {}, ...cheaper)] : [];
  const summary = element('div', {}, judged, ...told);
  return [element('div', { className: 'price-columns' }, summary, tableOf(fields, max))];
}

/** A click shows the field in the document. */
function hintButton({ path, first, without = [], likely, calls }, allowed, fields) {
  const what =
    first === undefined ? `Without ${without.join(', ')} of ${path || 'the query'}` : `first: ${first} at ${path}`;
  const over = calls > allowed ? `; ${allowed} allowed` : '';
  const place = first === undefined ? [path, without[0]].filter(Boolean).join('.') : path;
  const show = () => showAt(fields.find((field) => field.path === place)?.at ?? 0);
  return button(`${what}: about ${likely}, at most ${counted(calls)}${over}`, show, { className: 'price-hint' });
}

function tableOf(fields, most) {
  const rows = fields.map(({ path, at, min, max, endpoints }) => {
    const name = path.slice(path.lastIndexOf('.') + 1);
    const place = button(name, () => showAt(at), { className: 'price-field', title: path });
    place.style.paddingLeft = `${(path.split('.').length - 1) * 14}px`;
    const calls = element('td', { className: 'calls-number', textContent: range(min, max) });
    if (max === 0) calls.classList.add('dock-weak');
    if (max > most / 2 && max > 1) calls.classList.add('price-most');
    const endpoint = element('td', { className: 'price-endpoint', textContent: endpoints?.join(', ') ?? '' });
    return element('tr', {}, element('td', {}, place), calls, endpoint);
  });
  return tableWith(['Field', 'Calls', 'Endpoint'], rows, { className: 'price-fields' });
}

function showAt(offset) {
  const editor = editorOf(OPERATION);
  const position = editor?.getModel().getPositionAt(offset);
  if (!position) return;
  editor.setPosition(position);
  editor.revealPositionInCenterIfOutsideViewport(position);
  editor.focus();
}

/** Writes the calls of a field behind it in the editor. */
function createMarks() {
  let marks;
  return (fields) => {
    const editor = editorOf(OPERATION);
    if (!editor) return;
    const model = editor.getModel();
    const placeOf = (offset) => model.getPositionAt(offset);
    marks?.clear();
    marks = editor.createDecorationsCollection(
      fields
        .filter(({ max }) => max > 0)
        .map(({ end, min, max }) => ({
          range: monaco.Range.fromPositions(placeOf(end), placeOf(end)),
          options: {
            showIfCollapsed: true,
            after: { content: ` ${range(min, max)} ${max === 1 ? 'call' : 'calls'} `, inlineClassName: 'price-mark' },
          },
        })),
    );
  };
}
