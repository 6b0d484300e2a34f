/** How a client of ioredis connects: with the look-ups of names that all connections share, for which ioredis has no option. */
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type * as IORedis from 'ioredis';
import { optionalLookup as lookup } from '../../../lib/lookup.ts';

interface Address {
  host: string;
  port: number;
}

/** What is private in the connector of Sentinels. */
interface SentinelCalls {
  connectToSentinel: (sentinel: Address, options?: object) => IORedis.Redis;
  resolve: (sentinel: Address) => Promise<Address | null>;
}

export function createConnectors({ AbstractConnector, SentinelConnector }: typeof IORedis) {
  class Direct extends AbstractConnector {
    private readonly options: IORedis.RedisOptions;

    constructor(options: unknown) {
      super((options as IORedis.RedisOptions).disconnectTimeout!);
      this.options = options as IORedis.RedisOptions;
    }

    async connect() {
      const { host, port, tls } = this.options;
      const to = { host: host!, port: port!, lookup };
      this.connecting = true;
      await Promise.resolve(); // the client may be made to disconnect in this tick
      if (!this.connecting) throw new Error('Connection is closed.');
      this.stream = tls ? connectTls({ ...to, ...tls }) : connect(to);
      this.stream.once('error', (error: Error) => (this.firstError = error));
      return this.stream;
    }
  }

  class OfSentinels extends SentinelConnector {
    constructor(options: unknown) {
      super(options as IORedis.SentinelConnectionOptions);
      const calls = this as unknown as SentinelCalls;
      const { connectToSentinel, resolve } = calls;
      calls.connectToSentinel = (sentinel, more) =>
        connectToSentinel.call(this, sentinel, { ...more, Connector: Direct });
      calls.resolve = async (sentinel) => {
        const primary = await resolve.call(this, sentinel);
        return primary && { ...primary, lookup };
      };
    }
  }
  return { Direct, OfSentinels };
}
