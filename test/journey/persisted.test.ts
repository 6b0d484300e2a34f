import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { journey } from '../support/journey.ts';
import { temporaryDirectory } from '../support/service.ts';
import { pictures, uploadForm } from '../support/upload.ts';

const directory = temporaryDirectory();
test('a trusted mutation with an upload runs by its hash, and another text is rejected', async () => {
  const text =
    'mutation Note($input: CreateNoteInput!) { createNote(input: $input) { storedPictures note { title } } }';
  const persistedOperations = join(directory, 'notes.json');
  const hash = createHash('sha256').update(text).digest('hex');
  writeFileSync(persistedOperations, JSON.stringify({ [hash]: text }));
  const { upload } = await journey({ persistedOperations, persistedOnly: 'on' });
  const form = (document: object) => {
    const { pictures: inputs, files } = pictures([1]);
    const input = { title: '湖边', content: '<图片p_1>', privacy: 'FRIEND', pictures: inputs };
    const uploaded = uploadForm('', { input }, files);
    uploaded.set('operations', JSON.stringify({ ...document, variables: { input } }));
    return uploaded;
  };
  expect(await upload(form({ documentId: `sha256:${hash}` }))).toEqual({
    status: 200,
    data: { createNote: { storedPictures: [1], note: { title: '湖边' } } },
  });
  expect(await upload(form({ query: `${text} ` }))).toMatchObject({
    status: 403,
    errors: [{ extensions: { code: 'PERSISTED_ONLY' } }],
  });
});
