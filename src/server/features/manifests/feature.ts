/** The trusted documents, used anew as their file changes. */
import { settings } from '../../../config/settings.ts';
import { readManifest } from '../../../config/documents/trusted-documents.ts';
import type { Feature, FeatureParts } from '../../feature.ts';

export function createManifestFeature({ config, trusted, manifests }: FeatureParts): Feature {
  const { persistedOperations } = config;
  if (persistedOperations !== undefined)
    manifests.follow(settings.persistedOperations.env, persistedOperations, async () => {
      const documents = readManifest(persistedOperations);
      if (!trusted.replace(documents)) return undefined;
      return `${documents.size} documents are trusted`;
    });
  return {};
}
