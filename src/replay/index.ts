/**
 * replay/ answers "what happened, and why": a recorded log played again through the very fold that the daemon runs. The state at any
 * position, each step in words, the reason behind a route, and where two runs decided differently.
 *
 * May import events, machines and reconcile. Performs no effect, reads no file by itself (it is handed a log), looks at no clock.
 * Must never keep a rule of its own: what it shows is what the core derives. Read on in replay.ts, then transcript.ts.
 */
export { fold, type Folded, type Watch } from './fold.ts';
export { MarkCheck, recordingOf, type Difference, type Recording } from './recording.ts';
export { replay, type Replay } from './replay.ts';
export { Player, steps, type AccountChange, type RouteChange, type Seen, type Step } from './steps.ts';
export { effectLabel, isForeground, routeLabel } from './labels.ts';
export { diff, type Diff, type FirstDifference } from './diff.ts';
export { diffLogs, type LogsDiff } from './diffLogs.ts';
export { DecisionCheck, type Decision, type Unanswered } from './decisions.ts';
export { effectOf } from './outcome.ts';
export { remarkOn, type Remark } from './remark.ts';
export { differenceText, stepLines, transcript, TRANSCRIPT_VERSION, type TranscriptOptions } from './transcript.ts';
export { positionAt } from './moment.ts';
export { whyFrom, type WhyOptions } from './why.ts';
