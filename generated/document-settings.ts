// Printed by "npm run codegen" from src/config/settings.ts; not edited by hand.
import type { DocumentSettings } from '../src/engine/documents/limits.ts';

export const documentSettings: DocumentSettings = {
  maxDocumentCharacters: 20000,
  maxTokens: 4000,
  maxNesting: 100,
  maxFields: 1000,
  maxFragments: 100,
  maxDepth: 14,
  maxAliases: 60,
  maxDirectives: 50,
  maxRootFields: 30,
  maxMutations: 10,
  maxPlannedFields: 3000,
  maxUpstreamCalls: 250,
  possibleCallsFactor: 10,
  maxItems: 10000,
  maxValues: 60000,
  introspection: true,
};
