import type { Worker } from 'node:cluster';
import type { EventEmitter } from 'node:events';

interface Handle {
  close(): void;
}

/** What node:cluster sends a worker, and what the worker replies. */
interface Message {
  act?: string;
  seq?: number;
  ack?: number;
  accepted?: boolean;
}

/**
 * node:cluster sends a worker one connection at a time and waits for its reply. Two kinds of connections would stay open without ever being
 * read: one sent to a worker that is killed before its reply, and one sent to the last worker that stops listening. Here the first goes to
 * another worker, because nothing was read from it, and what no worker accepts is closed once none listens.
 */
export function watchHandOvers(): (worker: Worker) => void {
  const listening = new Set<Worker>();
  const notAccepted = new Set<Handle>();

  function onListenerLeft(): void {
    if (listening.size > 0) return;
    for (const handle of notAccepted) handle.close();
    notAccepted.clear();
  }

  return (worker) => {
    const child = worker.process;
    const internal: EventEmitter = child;
    const send = child.send.bind(child) as (...values: unknown[]) => boolean;
    let sent: { seq: number | undefined; handle: Handle } | undefined;

    child.send = (message: Message, handle?: unknown, ...rest: unknown[]): boolean => {
      if (message.act === 'newconn') {
        sent = { seq: message.seq, handle: handle as Handle };
        notAccepted.add(sent.handle);
      }
      return send(message, handle, ...rest);
    };
    internal.on('internalMessage', ({ act, ack, accepted }: Message) => {
      if (act === 'close') listening.delete(worker);
      if (sent && ack === sent.seq) {
        if (accepted) notAccepted.delete(sent.handle);
        sent = undefined;
      }
      if (act === 'close' || accepted === false) onListenerLeft();
    });
    worker.on('listening', () => listening.add(worker));

    const onEnd = () => {
      if (worker.isConnected() || !worker.isDead()) return;
      listening.delete(worker);
      // node:cluster gives a connection to another worker if the reply says that it was not accepted.
      if (sent && listening.size > 0)
        internal.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack: sent.seq, accepted: false });
      onListenerLeft();
    };
    // Either may be the last: only then has node:cluster forgotten the worker.
    worker.on('exit', onEnd);
    worker.on('disconnect', onEnd);
  };
}
