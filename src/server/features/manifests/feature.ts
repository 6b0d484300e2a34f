/** The trusted documents: reported at the start if they can never run, and used anew as their file changes. */
import { settings } from '../../../config/settings.ts';
import { readManifest } from '../../../config/documents/trusted-documents.ts';
import { checkDocuments, checkManifest } from '../../../engine/documents/check-manifest.ts';
import type { Feature, FeatureParts } from '../../feature.ts';

export function createManifestFeature({ schema, config, log, trusted, manifests }: FeatureParts): Feature {
  checkManifest(schema, config, log);
  const { persistedOperations } = config;
  if (persistedOperations !== undefined)
    manifests.follow(settings.persistedOperations.env, persistedOperations, async () => {
      const documents = readManifest(persistedOperations);
      if (!trusted.replace(documents)) return undefined;
      void checkDocuments(schema, config, documents, log);
      return `${documents.size} documents are trusted`;
    });
  return {};
}
