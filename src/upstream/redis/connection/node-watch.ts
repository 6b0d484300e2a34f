/** Watches the connection to one server of Redis: notices a peer that does not reply, and commands that were lost. */
import type { Redis } from 'ioredis';
import { afterPendingReads } from '../../../lib/event-loop.ts';

export interface NodeEvents {
  /** A command had no reply when its connection closed. */
  onLostCommand: () => void;
  /** There was no reply for so long that the connection is replaced. */
  onSilence: () => void;
}

/** If a reply is due and no data arrives for so long, the connection is replaced. */
const SILENT_MS = 2_000;
/** How often an idle connection is tried: a proxy or firewall may have dropped it. */
const PING_MS = 10_000;

export function watchNode(node: Redis, { onLostCommand, onSilence }: NodeEvents): void {
  const send = node.sendCommand.bind(node);
  /** Something was sent since data came last. */
  let isDue = false;
  let silence: NodeJS.Timeout | undefined;
  let pings: NodeJS.Timeout | undefined;

  function onDeadline(): void {
    silence = undefined;
    if (!isDue) return;
    // While it connects other limits apply.
    if (node.status !== 'ready' && node.status !== 'connect') return expectReply();
    isDue = false;
    onSilence();
    node.disconnect(true);
  }
  function expectReply(): void {
    isDue = true;
    silence ??= setTimeout(afterPendingReads, SILENT_MS, onDeadline).unref();
  }
  function onData(): void {
    isDue = false;
    clearTimeout(silence);
    silence = undefined;
  }

  const ping = () => {
    if (!isDue) void node.ping().catch(() => undefined);
  };

  node.sendCommand = (command, stream) => {
    expectReply();
    const reply = send(command, stream);
    // The client itself sends commands whose promises nobody has, like ASKING: their rejection would end the process.
    (reply as Promise<unknown>).catch((error: Error) => {
      if (error.name !== 'ReplyError') onLostCommand();
    });
    return reply;
  };
  node.on('connect', () => node.stream.on('data', onData));
  node.on('ready', () => {
    pings ??= setInterval(ping, PING_MS).unref();
  });
  node.on('close', () => {
    onData();
    clearInterval(pings);
    pings = undefined;
  });
}
