/** The two tables that run, compiled from the declarations at load. */
import { accountMachine, type AccountValue } from './account.ts';
import { compile, type Standing, type Table } from './compile.ts';
import type { AccountEvidence, RouteEvidence } from './evidence.ts';
import type { AccountContext } from './hydration.ts';
import { routeMachine, type RouteValue } from './route.ts';
import type { RouteContext } from './routeContext.ts';

export type RouteStanding = Standing<RouteValue, RouteContext>;
export type AccountStanding = Standing<AccountValue, AccountContext>;

export const routeTable: Table<RouteValue, RouteContext, RouteEvidence> = compile(routeMachine);
export const accountTable: Table<AccountValue, AccountContext, AccountEvidence> = compile(accountMachine);
