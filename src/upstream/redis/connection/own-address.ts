/** Nodes of a cluster that do not know their own address: the one that was connected to is meant, as the protocol says. */
import type { Redis } from 'ioredis';

/** A node in the reply of CLUSTER SLOTS. */
type NodeReply = [host: string | null, port: number, ...rest: unknown[]];
type SlotsReply = [first: number, last: number, ...nodes: NodeReply[]][];
type OnSlots = (error: Error | null, slots?: SlotsReply) => void;
type AskForSlots = (subcommand: 'SLOTS', onSlots: OnSlots) => unknown;

const isUnknown = (host: string | null): boolean => host === null || host === '' || host === '?';

/** For redirections like `MOVED 5 :7000`; null if the node has a host. */
export function hostOfNobody(node: string, connectedTo: string): { host: string; port: number } | null {
  const end = node.lastIndexOf(':');
  return isUnknown(node.slice(0, end)) ? { host: connectedTo, port: Number(node.slice(end + 1)) } : null;
}

/** The client leaves out nodes without a host when it asks for the slots, which it does on a copy of a connection. */
export function fillInOwnAddress(node: Redis): void {
  const duplicate = node.duplicate.bind(node);
  node.duplicate = (override) => {
    const copy = duplicate(override);
    const ask = copy.cluster.bind(copy) as AskForSlots;
    const { host = '' } = node.options;
    const filledIn: AskForSlots = (subcommand, onSlots) =>
      ask(subcommand, (error, slots) => onSlots(error, slots && withHost(slots, host)));
    copy.cluster = filledIn as Redis['cluster'];
    return copy;
  };
}

const withHost = (slots: SlotsReply, connectedTo: string): SlotsReply =>
  slots.map(([first, last, ...nodes]) => [
    first,
    last,
    ...nodes.map(([host, ...rest]): NodeReply => [isUnknown(host) ? connectedTo : host, ...rest]),
  ]);
