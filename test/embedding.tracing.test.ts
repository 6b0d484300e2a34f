// A program that has registered a tracer provider of its own receives the spans of the facade in it.
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, type ContextManager, ROOT_CONTEXT, SpanKind, context, trace } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { createFacade } from '../src/facade.ts';
import { hostile, json } from './support/hostile.ts';
import { settingsFor } from './support/embedded.ts';

const storage = new AsyncLocalStorage<Context>();
const contextManager: ContextManager = {
  active: () => storage.getStore() ?? ROOT_CONTEXT,
  with: (active, run, receiver, ...args) => storage.run(active, () => run.apply(receiver, args)),
  bind: (_, target) => target,
  enable: () => contextManager,
  disable: () => contextManager,
};
const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });

const service = await hostile(json('{"id":"7","title":"x"}'));
// Created before the provider is registered: the order must not matter.
const facade = createFacade({ ...settingsFor(service.url), recordTtlSeconds: 60 });
afterAll(() => facade.close());
trace.setGlobalTracerProvider(provider);
context.setGlobalContextManager(contextManager);
beforeEach(() => exporter.reset());

const execute = async (query: string, headers: Record<string, string> = {}) => {
  const body = JSON.stringify({ query });
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
  return (await facade.fetch(new Request('http://host.example/graphql', init))).json();
};
const spans = () =>
  exporter.getFinishedSpans().map((span) => ({
    name: span.name,
    kind: span.kind,
    id: span.spanContext().spanId,
    parent: span.parentSpanContext?.spanId,
    trace: span.spanContext().traceId,
  }));

test('operations and upstream calls are spans below the active span of the program', async () => {
  await trace.getTracer('host').startActiveSpan('request', async (span) => {
    await execute('query Page { book(id: 7) { title } }');
    span.end();
  });
  const [call, operation, request] = spans();
  expect([call?.name, operation?.name, request?.name]).toEqual(['GET', 'query', 'request']);
  expect([call?.kind, operation?.kind]).toEqual([SpanKind.CLIENT, SpanKind.SERVER]);
  expect([call?.parent, operation?.parent]).toEqual([operation?.id, request?.id]);
  expect(service.requests.at(-1)?.headers.traceparent).toBe(`00-${request?.trace}-${call?.id}-01`);
});

test('without an active span the trace of the client is continued', async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  await execute('{ book(id: 8) { title } }', { traceparent });
  const [, operation] = spans();
  expect([operation?.trace, operation?.parent]).toEqual(['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']);
});

test('a response from the cache is a span too', async () => {
  for (let time = 0; time < 2; time++) await execute('query Again { book(id: 7) { title } }');
  expect(spans().map(({ name }) => name)).toEqual(['query', 'query']);
});
