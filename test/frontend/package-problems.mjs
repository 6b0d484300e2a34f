// Prints what publint and "Are the types wrong" find in a package: node package-problems.mjs <tarball>
import { readFileSync } from 'node:fs';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';

const tarball = readFileSync(process.argv[2]);
const { messages } = await publint({ pack: { tarball: tarball.buffer }, strict: true });
const types = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)));
const problems = types.problems ?? [];
console.log(JSON.stringify({ entrypoints: Object.keys(types.entrypoints ?? {}), messages, problems }));
