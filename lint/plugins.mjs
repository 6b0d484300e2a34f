// Imported by eslint.config.js, so that they are found where they are installed.
export { default as js } from '@eslint/js';
export { default as regexp } from 'eslint-plugin-regexp';
export { default as tseslint } from 'typescript-eslint';
