/**
 * `record`: the id of what it changes, or `key`. `body`: the request's, with
 * one mutation. `before`: the entry that was shown; if it is deleted elsewhere,
 * a sync removes it. `errors`: why it was not made; the user must decide.
 */
export type Write = {
  key: string;
  record: string;
  body: string;
  before?: Entry;
  errors?: GraphError[];
};
/** `isPrivate` is null if it is not known. */
type Entry = {
  status: string | null;
  rating: { value: number } | null;
  comment: string | null;
  tagNames: string[];
  isPrivate: boolean | null;
};
type GraphError = {
  message: string;
  extensions: {
    code: string;
    advice?: string;
    retryAfter?: number;
    upstream?: { lookAt?: string };
    current?: object;
    revision?: string;
  };
};
export type Answer = { data?: object | null; errors?: GraphError[] };

/** Errors of the facade have codes; what else a proxy sends is no answer. */
const isAnswer = (
  given: Partial<Answer> | null | undefined,
): given is Answer => {
  const { data, errors = [] } = given ?? {};
  const haveCodes =
    Array.isArray(errors) &&
    errors.every((each) => typeof each?.extensions?.code === 'string');
  return haveCodes && (typeof data === 'object' || errors.length > 0);
};

/** `Retry-After` in seconds: a number, or a date. */
function secondsIn(text: string): number {
  const seconds = /^\d+$/.test(text)
    ? Number(text)
    : (Date.parse(text) - Date.now()) / 1_000;
  return Math.min(seconds || 0, 3_600);
}

/** Nothing comes of it before a login or an update. */
const needsUser = ({ extensions: { code, advice } }: GraphError) =>
  advice === 'log-in' || /^(PERSISTED_|CLIENT_TOO_OLD$)/.test(code);

/** A table of the app, in the order of its rows. */
export interface Outbox {
  all(): Promise<Write[]>;
  /** `write` takes the place of the row with this key. */
  replace(key: string, write: Write): Promise<unknown>;
  remove(key: string): Promise<unknown>;
}

/** After a write with `errors`, what waits for its record is not sent. */
async function nextOf(outbox: Outbox): Promise<Write | undefined> {
  const open = new Set<string>();
  return (await outbox.all()).find(({ record, errors }) => {
    if (errors) open.add(record);
    return !open.has(record);
  });
}

/** What waits for the same record is a change of what this write has made. */
async function rebase(outbox: Outbox, made: Write, revision: string) {
  for (const write of await outbox.all()) {
    const body = JSON.parse(write.body) as { variables?: object };
    const { variables = {} } = body;
    const isNext = write.record === made.record && write.key !== made.key;
    if (!isNext || !('unchangedSince' in variables)) continue;
    body.variables = { ...variables, unchangedSince: revision };
    await outbox.replace(write.key, { ...write, body: JSON.stringify(body) });
  }
}

/**
 * The user's decision on a write with `errors`; then call `sendAll`. `body` is
 * sent in its place, and after it what waits for the record. Without `body`,
 * nothing of this is sent: it changes what was not made.
 */
export async function decide(outbox: Outbox, write: Write, body?: string) {
  const { key, errors: _, ...rest } = write;
  if (body !== undefined)
    return outbox.replace(key, { ...rest, key: crypto.randomUUID(), body });
  // From the end: if the app ends here, the write still holds what waits.
  for (const each of (await outbox.all()).reverse())
    if (each.record === rest.record) await outbox.remove(each.key);
}

/**
 * The variables of `Collect` that put a deleted entry back as it was, with the
 * change of `body`. Ask where `isPrivate` is null: without it, everybody sees
 * the entry.
 */
export function putBack(
  before: Entry & { isPrivate: boolean },
  body: string,
): object {
  const { variables } = JSON.parse(body) as { variables: object };
  const { status, rating, comment, tagNames: tags, isPrivate } = before;
  const entry = { status, rating: rating?.value, comment, tags, isPrivate };
  return { ...entry, ...variables, unchangedSince: undefined };
}

/** Sent with null, a change would write over what other devices did. */
const revisionUnknown: GraphError = {
  message: 'It is not known what was there before this change.',
  extensions: { code: 'REVISION_UNKNOWN' },
};
const isWithoutRevision = ({ body }: Write) =>
  (JSON.parse(body) as { variables?: { unchangedSince?: null } }).variables
    ?.unchangedSince === null;

/**
 * Sends all but what waits for a decision; one run at a time. False if the
 * user must log in or update the app first; then call it again. `send` adds
 * the address and the token. `pause` ends after so many seconds, or as soon as
 * the network is back. `onMade` stores what was made, and returns the
 * `revision` of the payload, if there is one: without it, the user must decide
 * on the next write of the record.
 */
export async function sendAll(
  outbox: Outbox,
  send: (init: RequestInit) => Promise<Response>,
  pause: (seconds: number) => Promise<unknown>,
  onMade: (write: Write, answer: Answer) => Promise<string | undefined>,
): Promise<boolean> {
  let wait = 1;
  for (let write; (write = await nextOf(outbox));) {
    if (isWithoutRevision(write)) {
      await outbox.replace(write.key, { ...write, errors: [revisionUnknown] });
      continue;
    }
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': write.key,
    };
    const response = await send({
      method: 'POST',
      headers,
      body: write.body,
    }).catch(() => undefined);
    const given: unknown = await response?.json().catch(() => undefined);
    const answer = isAnswer(given as Partial<Answer> | undefined)
      ? (given as Answer)
      : undefined;
    const errors = answer?.errors ?? [];
    if (errors.some(needsUser)) return false;
    const passing = errors.filter(
      ({ extensions: { code, advice, retryAfter } }) =>
        code === 'UPSTREAM_RESULT_UNKNOWN'
          ? retryAfter !== undefined
          : advice === 'retry-later',
    );
    if (!answer || passing.length > 0) {
      const seconds = passing.map(
        ({ extensions }) => extensions.retryAfter ?? 0,
      );
      const asked = secondsIn(response?.headers.get('retry-after') ?? '');
      await pause(Math.max(wait, asked, ...seconds));
      wait = Math.min(2 * wait, 60);
      continue;
    }
    wait = 1;
    // A payload is there if the write was made, whatever of it is missing.
    const isMade = Object.values(answer.data ?? {}).some(Boolean);
    if (errors.length > 0 && !isMade) {
      await outbox.replace(write.key, { ...write, errors });
      continue;
    }
    const revision = await onMade(write, answer);
    if (revision !== undefined) await rebase(outbox, write, revision);
    await outbox.remove(write.key);
  }
  return true;
}
