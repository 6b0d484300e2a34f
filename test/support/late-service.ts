/** A service of notes whose writes are carried out when the test says so, whatever becomes of their connections. */
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from './listen.ts';

interface Comment {
  id: string;
  content: string;
  author: { id: string };
}

/** A write that has arrived. */
export interface ArrivedWrite {
  line: string;
  content: string;
  /** Its connection was closed before the response. */
  isAbandoned: () => boolean;
  /** Carries it out. */
  commit: () => void;
  /** Responds, with what it created or with another status and body. */
  respond: (status?: number, body?: object | string) => void;
  /** Cuts the connection. */
  lose: () => void;
}

/**
 * `onWrite` is called with each write that arrives. Comments are listed without those that are hidden, `pageMax` at most. `authorOf`: whose
 * token it is.
 */
export async function lateService(
  onWrite: (write: ArrivedWrite) => void,
  { authorOf = (_: string): string => 'alice', pageMax = 100 } = {},
) {
  const comments: (Comment & { isHidden?: boolean })[] = [];
  const notes = new Map<string, { title: string; content: string; update_time: string }>();
  const lines: string[] = [];
  const state = { readsFail: false };
  let next = 1_000;

  const json = (response: ServerResponse, status: number, body: object | string) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(typeof body === 'string' ? body : JSON.stringify(body));

  function onRead(url: URL, response: ServerResponse): void {
    const [, id = '', , commentId] = /^\/v2\/note\/([^/]+)(\/comments?)?(?:\/(\d+))?/.exec(url.pathname) ?? [];
    if (!url.pathname.endsWith('/comments') && commentId === undefined) {
      const note = notes.get(id);
      if (!note) return json(response, 404, { code: 1006, msg: 'target_not_found' });
      return json(response, 200, { id, privacy: 'public', can_reply: true, ...note });
    }
    const [start, count] = ['start', 'count'].map((name) => Number(url.searchParams.get(name) ?? 0)) as [
      number,
      number,
    ];
    const page = comments.slice(start, start + Math.min(count, pageMax)).filter(({ isHidden }) => !isHidden);
    json(response, 200, { start, count, total: comments.length, comments: page });
  }

  async function onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '' } = request;
    const line = `${method} ${path}`;
    lines.push(line);
    const url = new URL(path, 'http://service');
    if (method === 'GET') return state.readsFail ? json(response, 500, '') : onRead(url, response);
    const body = new URLSearchParams(await text(request));
    const content = body.get('content') ?? '';
    let isAbandoned = false;
    let made: object = {};
    response.on('close', () => (isAbandoned = !response.writableEnded));
    onWrite({
      line,
      content,
      isAbandoned: () => isAbandoned,
      commit() {
        const id = /^\/v2\/note\/([^/]+)/.exec(path)?.[1] ?? '';
        if (method === 'PUT') {
          const note = { title: body.get('title') ?? '', content, update_time: String(next++) };
          notes.set(id, note);
          made = { id, privacy: 'public', can_reply: true, ...note };
        } else if (method === 'POST' && path.endsWith('/comments')) {
          made = { id: String(next++), content, author: { id: authorOf(request.headers.authorization ?? '') } };
          comments.push(made as Comment);
        } else if (method === 'DELETE') {
          const at = comments.findIndex((each) => path.endsWith(`/comment/${each.id}`));
          if (at >= 0) comments.splice(at, 1);
        }
      },
      respond: (status = 200, answer = made) => json(response, status, answer),
      lose: () => void response.destroy(),
    });
  }

  const url = await listen(
    createServer((request, response) => void onRequest(request, response).catch(() => undefined)),
  );
  return { url, comments, notes, lines, state, writes: () => lines.filter((line) => !line.startsWith('GET')) };
}

/** What a service does that works. */
export const atOnce = (write: ArrivedWrite): void => {
  write.commit();
  write.respond();
};
