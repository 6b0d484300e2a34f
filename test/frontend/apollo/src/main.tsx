import { ApolloProvider } from '@apollo/client/react';
import { createRoot } from 'react-dom/client';
import { App } from './App';
import { apolloClient } from './client';

const uri = 'http://localhost:4000/graphql';
// A user of the demo: docs/access.md.
const client = apolloClient(uri, 'demo-alice');
createRoot(document.getElementById('root')!).render(
  <ApolloProvider client={client}>
    <App />
  </ApolloProvider>,
);
