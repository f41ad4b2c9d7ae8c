/** The words of the control plane: the snapshot that is true, the hint that is not, and the sessions that change it. */
export * from './snapshot.ts';
export * from './hint.ts';
export * from './session.ts';
