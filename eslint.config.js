// Type-aware rules only: the formatter and the compiler hold the rest. A promise nobody awaits is how a daemon loses an outcome.
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/**', 'src/protocol/gen/**', '**/*.gen.ts', 'scripts/*.mjs', 'eslint.config.js'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.base],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/return-await': ['error', 'in-try-catch'],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/use-unknown-in-catch-callback-variable': 'error',
      // Object.assign sets a prototype from a parsed "__proto__" key; a spread makes it an own property.
      'no-restricted-properties': [
        'error',
        {
          object: 'Object',
          property: 'assign',
          message: 'Spread instead: Object.assign on parsed data can set a prototype.',
        },
      ],
    },
  },
);
