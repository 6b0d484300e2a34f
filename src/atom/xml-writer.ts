/** Writes XML elements. */
import { escape } from './xml.ts';

declare const written: unique symbol;
/** Elements, or escaped text. A text that is not escaped yet cannot be assigned to it. */
type Markup = string & { readonly [written]: true };
/** The children of an element; those that are undefined or false are left out. */
export type Children = readonly (Markup | false | undefined)[];
/** Those that are undefined are left out. */
type Attributes = Readonly<Record<string, string | undefined>>;

export function element(name: string, attributes: Attributes, children: Children = []): Markup {
  let out = `<${name}`;
  for (const [each, value] of Object.entries(attributes)) if (value !== undefined) out += ` ${each}="${escape(value)}"`;
  const present = children.filter((child) => child !== false && child !== undefined);
  return (out + (present.length === 0 ? '/>' : `>${present.join('')}</${name}>`)) as Markup;
}

/** An element that contains a text only. */
export const leaf = (name: string, text: string | undefined, attributes: Attributes = {}) =>
  text !== undefined && element(name, attributes, [escape(text) as Markup]);
