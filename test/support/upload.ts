import { picture } from './service.ts';

/** A GraphQL multipart request: each file in the place of the variables that its name says, as in `input.pictures.0.file`. */
export function uploadForm(
  query: string,
  variables: object,
  files: Readonly<Record<string, Blob>>,
  map: Record<string, string[]> = Object.fromEntries(
    Object.keys(files).map((place) => [place, [`variables.${place}`]]),
  ),
): FormData {
  const form = new FormData();
  form.set('operations', JSON.stringify({ query, variables }));
  form.set('map', JSON.stringify(map));
  for (const [place, file] of Object.entries(files)) form.set(place, file, 'picture');
  return form;
}

/** Pictures with these numbers in an input, and their files. */
export function pictures(numbers: readonly number[], file: (number: number) => Blob = () => picture('png', 300)) {
  return {
    pictures: numbers.map((number) => ({ number, file: null })),
    files: Object.fromEntries(numbers.map((number, index) => [`input.pictures.${index}.file`, file(number)])),
  };
}
