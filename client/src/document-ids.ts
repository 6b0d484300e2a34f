// Printed by "npm run codegen" from operations/; not edited by hand.

/** The ids of the documents in manifest.json, by the name of their operation: SHA-256 of their text. */
export const documentIds: Record<
  | 'Annotate'
  | 'Annotations'
  | 'Book'
  | 'Celebrity'
  | 'Charts'
  | 'City'
  | 'Collect'
  | 'Dashboard'
  | 'Diary'
  | 'Event'
  | 'Explain'
  | 'Film'
  | 'WriteNote'
  | 'Search'
  | 'Shelf',
  string
> = {
  Annotate: '7ac860f8193615fe705bf545106bd0a674ca9b35b7fa6ceec89fbcd925e348b3',
  Annotations: '805e07e038cf7b9a28cff878f0fe87869dd9a458216a74ba7bb8634aa2e34239',
  Book: '1525f38fa896505d95c8448931262783b87bcd6609abfc9fae15e2381b7deb30',
  Celebrity: '79a8e21ba1c85196d858a3d1aa49e3edcdf687d042d63754ab72a8dea9df5ea1',
  Charts: '054a0bcb367adb651c932f955cd24e10d6954347e29b98c052bbe02995e8aad3',
  City: 'b6574f70078b77992197a69c9889a6427b1d16dac085d680a200e3a2738026c5',
  Collect: 'd072fc0a690d4217295c63eeed328ae0af64d10858f03851d00ca33216c5c07a',
  Dashboard: '4f0d2c306211be50de91841f4cd91d149cb2c439097581074e07cefcf07aafa0',
  Diary: '6146fc741e9063659891c616e11fa5a8bca3f675e038d7ec0a3ce37228c5d7df',
  Event: '739845783ed4616f482a92bd07a333391e939b376843e39a3b3fab9ee9fb6b6d',
  Explain: '03f1c0ee5ef9404b96e0a014d4a97a6ece3eea89d6eb46b2ac91cef8c78febf0',
  Film: '4d3f3edc39e70ea6599c3fb42b97aecf170f360b9ef93c4a6be915554d7bba33',
  WriteNote: '35fbc0795aea70cc80f200a1c15afd13c86f772c065d1689c5be029bf7546abf',
  Search: 'a94f3b4773399870779afae9688282022ce3dd22a8b2c1707c3df162ebf15ae0',
  Shelf: '4eff342d9720c16daa49859a79e7298a5dd50d75f6ff455225d2776f041cb0db',
};
