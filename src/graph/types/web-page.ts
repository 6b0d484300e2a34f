import { builder } from '../../engine/builder.ts';

/** What has a page of its own at the service. */
export const WebPage = builder.interfaceRef<object>('WebPage').implement({
  description: 'Something with a web page at the service.',
  fields: (t) => ({
    webUrl: t.field({ type: 'URL', nullable: true, description: 'The web page. Null if the service names none.' }),
  }),
});
