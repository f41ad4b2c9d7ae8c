export * from './uint64.ts';
export * from './stamp.ts';
export * from './catalogue.ts';
export * from './log.ts';
