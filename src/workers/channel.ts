/** Questions between the primary process and its workers, over the channel that Node opens between them. */

/** One end: a worker in the primary process, or the process itself in a worker. */
export interface ChannelEnd {
  send(message: object): void;
  onMessage(listener: (message: unknown) => void): void;
  onClose(listener: () => void): void;
}

/** The replies of this end, by question. */
export type Replies = Readonly<Record<string, (parameter: unknown) => unknown>>;

interface Question {
  question: string;
  id: number;
  parameter?: unknown;
}

interface Reply {
  replyTo: number;
  value?: unknown;
}

/** A worker whose event loop is blocked does not reply. */
const REPLY_MS = 1_000;

export type Channel = ReturnType<typeof openChannel>;

export function openChannel(end: ChannelEnd, replies: Replies) {
  const waiting = new Map<number, (value: unknown) => void>();
  let lastId = 0;

  end.onMessage((message) => {
    if (isReply(message)) waiting.get(message.replyTo)?.(message.value);
    else if (isQuestion(message)) void reply(message);
  });
  end.onClose(() => {
    for (const resolve of waiting.values()) resolve(undefined);
  });

  async function reply({ question, id, parameter }: Question): Promise<void> {
    const value = await replies[question]?.(parameter);
    end.send({ replyTo: id, value } satisfies Reply);
  }

  return {
    /** The reply of the other end; undefined if it does not reply in time. */
    ask(question: string, parameter?: unknown, replyMs = REPLY_MS): Promise<unknown> {
      const id = ++lastId;
      return new Promise<unknown>((resolve) => {
        const timer = setTimeout(resolve, replyMs, undefined);
        waiting.set(id, (value) => {
          clearTimeout(timer);
          resolve(value);
        });
        end.send({ question, id, parameter } satisfies Question);
      }).finally(() => waiting.delete(id));
    },
  };
}

const isReply = (message: unknown): message is Reply =>
  typeof message === 'object' && message !== null && 'replyTo' in message;

const isQuestion = (message: unknown): message is Question =>
  typeof message === 'object' && message !== null && 'question' in message;
