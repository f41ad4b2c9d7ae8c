/** Reads src/ as syntax trees: what a file imports, and which names of the outside world it speaks. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';

export const root: string = join(import.meta.dirname, '../..');

export interface Source {
  /** Path relative to src/, with `/`. */
  readonly file: string;
  readonly tree: ts.SourceFile;
}

/** An import as written, and where: `line` counts from 1. `specifier` is null when it is computed. */
export interface Import {
  readonly specifier: string | null;
  readonly line: number;
  /** Loaded when the file is, rather than later or not at all. */
  readonly eager: boolean;
}

export function parse(file: string, text: string): Source {
  return { file, tree: ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true) };
}

/** Every file below `folder` of the repository whose name ends in one of `endings`, relative to `folder`. */
export function filesBelow(folder: string, endings: readonly string[]): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => join(entry.parentPath, entry.name).slice(join(root, folder).length + 1))
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
}

let read: readonly Source[] | undefined;
/** All of src/, parsed once. */
export function sources(): readonly Source[] {
  read ??= filesBelow('src', ['.ts', '.tsx']).map((file) => parse(file, readFileSync(join(root, 'src', file), 'utf8')));
  return read;
}

export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => {
    walk(child, visit);
  });
}

export function lineOf(source: Source, node: ts.Node): number {
  return source.tree.getLineAndCharacterOfPosition(node.getStart()).line + 1;
}

/** Static, dynamic, re-exporting and type imports alike: a type is a dependency too. */
export function importsOf(source: Source): readonly Import[] {
  const found: Import[] = [];
  walk(source.tree, (node) => {
    const target = importTarget(node);
    if (target === undefined) return;
    const specifier = ts.isStringLiteralLike(target) ? target.text : null;
    found.push({ specifier, line: lineOf(source, node), eager: isEager(node) });
  });
  return found;
}

function isEager(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node)) return node.importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword;
  return ts.isExportDeclaration(node) && !node.isTypeOnly;
}

function importTarget(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal;
  if (!ts.isCallExpression(node)) return undefined;
  const [called, target] = [node.expression, node.arguments[0]];
  if (called.kind === ts.SyntaxKind.ImportKeyword) return target;
  // There is no `require` in a module, so one with anything but a text is a function of that name.
  const loads = ts.isIdentifier(called) && called.text === 'require' && target !== undefined;
  return loads && ts.isStringLiteralLike(target) ? target : undefined;
}

/** `./x.ts` of `a/b.ts` is `a/x.ts`; undefined when it is not a relative path. */
export function resolveWithin(file: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : undefined;
}
