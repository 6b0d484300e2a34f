import { meros } from 'meros/browser';
import {
  Environment,
  Network,
  Observable,
  RecordSource,
  Store,
  type GraphQLResponse,
  type RequestParameters,
  type UploadableMap,
  type Variables,
} from 'relay-runtime';

/** The reader of the demo. */
export const TOKEN = 'demo-alice';

/** A part of a response in the format of 20220824. */
interface Part {
  data?: object | null;
  errors?: object[];
  incremental?: { data: object | null; path: (string | number)[]; label: string; errors?: object[] }[];
  hasNext?: boolean;
}

const post = (init: { body: BodyInit; headers: Record<string, string> }) =>
  fetch('/graphql', {
    method: 'POST',
    body: init.body,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      accept: 'multipart/mixed; deferSpec=20220824, application/json',
      ...init.headers,
    },
  });

function send({ text, name }: RequestParameters, variables: Variables, files: UploadableMap | null | undefined) {
  const operation = JSON.stringify({ query: text, operationName: name, variables });
  if (!files) return post({ body: operation, headers: { 'content-type': 'application/json' } });
  // A GraphQL multipart request: the map says where in the variables each file belongs.
  const body = new FormData();
  const paths = Object.keys(files);
  body.set('operations', operation);
  body.set('map', JSON.stringify(Object.fromEntries(paths.map((path, at) => [at, [path]]))));
  paths.forEach((path, at) => body.set(String(at), files[path]!));
  return post({ body, headers: { 'x-graphql-csrf': '1' } });
}

/** Of a further page of a list, an error: Relay would replace the whole list by the null of the page. */
function checked(part: Part, { after }: Variables): Part {
  if (typeof after === 'string' && part.errors) throw new Error('The page could not be loaded.');
  return part;
}

/** Relay takes each deferred fragment as a response of its own, with a label and a path. */
function* responsesOf({ data, errors, incremental = [], hasNext = false }: Part): Generator<GraphQLResponse> {
  const all = [...(data === undefined ? [] : [{ data, errors }]), ...incremental];
  for (const [at, each] of all.entries()) {
    const isFinal = !hasNext && at === all.length - 1;
    yield { ...each, extensions: { is_final: isFinal } } as unknown as GraphQLResponse;
  }
}

/** The response, read to its end: the parser of parts leaves at the last boundary, and the browser then counts no bytes. */
function whole(response: Response): Response {
  const reader = response.body!.getReader();
  let isLeft = false;
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (let part = await reader.read(); !part.done; part = await reader.read())
        if (!isLeft) controller.enqueue(part.value);
      if (!isLeft) controller.close();
    },
    cancel() {
      isLeft = true;
    },
  });
  return new Response(body, response);
}

/** `onCut` is called if a response ends after its first part: Relay shows no error for the parts that are missing. */
const networkOf = (onCut: () => void) =>
  Network.create((request, variables, _, files) =>
    Observable.create((sink) => {
      let isWaiting = false;
      const read = async () => {
        const parts: Response | AsyncIterable<{ body: unknown }> = await meros(
          whole(await send(request, variables, files)),
        );
        if (parts instanceof Response) {
          if (!parts.headers.get('content-type')?.includes('json'))
            throw new Error(`The facade does not respond (status ${parts.status}).`);
          for (const response of responsesOf(checked((await parts.json()) as Part, variables))) sink.next(response);
        } else {
          for await (const { body } of parts) {
            for (const each of responsesOf(checked(body as Part, variables))) sink.next(each);
            isWaiting = (body as Part).hasNext === true;
          }
          if (isWaiting) throw new Error('The response ended before its last part.');
        }
        sink.complete();
      };
      read().catch((error: unknown) => {
        if (isWaiting) onCut();
        sink.error(error as Error);
      });
    }),
  );

export const createEnvironment = (onCut: () => void): Environment =>
  new Environment({ network: networkOf(onCut), store: new Store(new RecordSource()) });
