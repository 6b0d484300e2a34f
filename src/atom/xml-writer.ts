/** Writes trees of XML elements. */
import { escape } from './xml.ts';

export interface XmlElement {
  name: string;
  /** Those that are undefined are left out. */
  attributes: Readonly<Record<string, string | undefined>>;
  /** A string is text, not yet escaped. */
  children: readonly (XmlElement | string)[];
}

export function serialize(root: XmlElement): string {
  const out = ['<?xml version="1.0" encoding="UTF-8"?>\n'];
  write(root, out);
  return out.join('');
}

function write(node: XmlElement, out: string[]): void {
  out.push('<', node.name);
  for (const [name, value] of Object.entries(node.attributes)) {
    if (value !== undefined) out.push(' ', name, '="', escape(value), '"');
  }
  if (node.children.length === 0) return void out.push('/>');
  out.push('>');
  for (const child of node.children) {
    if (typeof child === 'string') out.push(escape(child));
    else write(child, out);
  }
  out.push('</', node.name, '>');
}
