/** What `x-explain` adds to a response, as a line and a table. */
import { element } from '../element.js';

export function viewOf(upstream) {
  if (upstream?.calls) return viewOfCalls(upstream.calls);
  if (upstream?.fields) return viewOfPlan(upstream);
  return { totals: 'No call: the operation did not run.' };
}

function viewOfCalls(calls) {
  const made = calls.filter((call) => kindOf(call) === 'made' || kindOf(call) === 'failed');
  const bytes = made.reduce((sum, call) => sum + (call.bytes ?? 0), 0);
  const end = Math.max(0, ...calls.map((call) => call.startMs + call.ms));
  const avoided = calls.length - made.length;
  const absent = made.filter(({ status }) => status === 404).length;
  const totals = [
    made.length > 0 ? `${counted(made.length, 'call')} in ${counted(wavesOf(made), 'wave')}` : 'No call',
    ...(avoided > 0 ? [`${avoided} avoided`] : []),
    ...(absent > 0 ? [`${absent} not found`] : []),
    ...(made.length > 0 ? [bytesText(bytes), msText(end)] : []),
  ].join(' · ');
  if (calls.length === 0) return { totals };

  const table = element('table', {});
  const axis = element('th', { scope: 'col', className: 'calls-axis' });
  axis.append(...[0, end / 2, end].map((ms) => element('span', { textContent: msText(ms) })));
  const head = element('tr', {});
  head.append(
    column('Call'),
    column('Fields', 'calls-fields'),
    column('Requested by', 'calls-fields'),
    column('Status'),
    column('Time', 'calls-number'),
    column('Bytes', 'calls-number'),
    axis,
  );
  table.createTHead().append(head);
  const body = table.createTBody();
  for (const call of [...calls].sort((a, b) => a.startMs - b.startMs)) body.append(rowOf(call, end));
  return { totals, table };
}

function rowOf(call, end) {
  const kind = kindOf(call);
  const row = element('tr', { className: `calls-${kind}` });
  const wire = cell('calls-path');
  wire.append(element('span', { className: 'calls-method', textContent: call.method }), ` ${readable(call.path)}`);
  wire.title = `${call.method} ${readable(call.path)}`;

  const fields = cell('calls-fields');
  const names = call.fields === undefined ? [] : decodeURIComponent(call.fields).split(',');
  if (names.length > 0) {
    const details = element('details', {});
    details.append(element('summary', { textContent: counted(names.length, 'field') }), names.join(', '));
    fields.append(details);
  } else if (kind !== 'cached' && kind !== 'stale') fields.textContent = 'all';

  const status = cell('calls-status');
  status.append(call.error && !call.status ? call.error : String(call.status ?? ''));
  for (const mark of marksOf(call)) status.append(element('span', { className: 'calls-mark', textContent: mark }));

  const time = cell('calls-time');
  const line = element('span', { className: 'calls-line' });
  line.style.left = `min(${share(call.startMs, end)}%, 100% - 3px)`;
  line.style.width = `${share(call.ms, end)}%`;
  line.title = `from ${msText(call.startMs)} to ${msText(call.startMs + call.ms)}`;
  time.append(line);

  const field = cell('calls-field', call.field);
  field.title = call.field;
  row.append(
    wire,
    fields,
    field,
    status,
    cell('calls-number', kind === 'cached' ? '' : msText(call.ms)),
    cell('calls-number', call.bytes === undefined ? '' : bytesText(call.bytes)),
    time,
  );
  return row;
}

/** For `x-explain: plan`, which makes no call. */
function viewOfPlan({ min, max, fields }) {
  const totals = `Planned, not run: ${range(min, max)} ${max === 1 ? 'call' : 'calls'}`;
  const table = element('table', {});
  const head = element('tr', {});
  head.append(
    column('Field'),
    column('Endpoint'),
    column('Calls', 'calls-number'),
    element('th', { className: 'calls-axis' }),
  );
  table.createTHead().append(head);
  const body = table.createTBody();
  for (const each of fields) {
    const row = element('tr', { className: 'calls-made' });
    const time = cell('calls-time');
    const line = element('span', { className: 'calls-line' });
    line.style.width = `${share(each.max, max)}%`;
    time.append(line);
    row.append(
      cell('calls-path', each.path),
      cell('calls-path', each.endpoint),
      cell('calls-number', range(each.min, each.max)),
      time,
    );
    body.append(row);
  }
  return { totals, table };
}

/** `cached` if served from the cache, `stale` if by an outdated record, `shared` if another operation sent the request. */
function kindOf({ how, error }) {
  if (how === 'stale' || how === 'cached') return how;
  if (how === 'joined') return 'shared';
  return error ? 'failed' : 'made';
}

function marksOf(call) {
  return [
    ...(call.staleSeconds !== undefined ? [`stale ${Math.round(call.staleSeconds)} s`] : []),
    ...(call.how === 'cached' ? ['cached'] : []),
    ...(call.how === 'joined' ? ['shared'] : []),
    ...(call.how === 'refused' ? ['not sent'] : []),
    ...(call.attempts > 1 ? [`${call.attempts} attempts`] : []),
    ...(call.error && call.status ? [call.error] : []),
  ];
}

/** The longest chain of calls that waited for each other: a call of a field below, which began after the other had ended. */
function wavesOf(calls) {
  const waves = new Map();
  for (const call of [...calls].sort((a, b) => a.startMs - b.startMs)) {
    const waited = [...waves].filter(([before]) => isBelow(call, before) && before.startMs + before.ms <= call.startMs);
    waves.set(call, 1 + Math.max(0, ...waited.map(([, wave]) => wave)));
  }
  return Math.max(0, ...waves.values());
}

const isBelow = (call, before) => `${call.field}.`.startsWith(`${before.field}.`) && call.field !== before.field;

const share = (part, whole) => (whole > 0 ? Math.min(100, (part / whole) * 100) : 0);
const counted = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;
export const range = (min, max) => (min === max ? String(max) : `${min} to ${max}`);
const msText = (ms) =>
  ms >= 10_000 ? `${(ms / 1_000).toFixed(1)} s` : `${ms < 100 ? Math.round(ms * 10) / 10 : Math.round(ms)} ms`;
const bytesText = (bytes) =>
  bytes < 1_000
    ? `${bytes} B`
    : bytes < 1_000_000
      ? `${(bytes / 1_000).toFixed(1)} kB`
      : `${(bytes / 1_000_000).toFixed(1)} MB`;

function readable(path) {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function column(text, className = '') {
  return element('th', { scope: 'col', textContent: text, className });
}

function cell(className, text = '') {
  return element('td', { className, textContent: text });
}
