import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { record } from '../audit/index.ts'
import { type Needs, nameOf } from '../context.ts'
import { findSwitches, findSwitchesOn, joinWriters, saveSwitch, waitForWriters } from './store.ts'
import { isSwitch, SWITCHES, type SwitchName, type SwitchState } from './switch.ts'

const RETRY_SECONDS = 60

/** All switches, including those that were never turned. */
export async function listSwitches(ctx: Needs<'db'>): Promise<SwitchState[]> {
  const saved = new Map((await findSwitches(ctx.db)).map((state) => [state.name, state]))
  return Object.keys(SWITCHES)
    .filter(isSwitch)
    .map((name) => saved.get(name) ?? { name, onSince: null, changedAt: null, changedBy: null, reason: null })
}

type Turn = { readonly name: SwitchName; readonly on: boolean; readonly reason: string }

/** Returns after every write that saw the old state has ended. */
export const turnSwitch = (
  ctx: Needs<'transact' | 'clock' | 'actor' | 'vault' | 'requestId'>,
  input: Turn,
): Promise<SwitchState> => ctx.transact((tx) => turnSwitchIn(ctx, tx, input))

/** In the transaction of the caller. */
export async function turnSwitchIn(
  ctx: Needs<'clock' | 'actor' | 'vault' | 'requestId'>,
  tx: Tx,
  input: Turn,
): Promise<SwitchState> {
  await waitForWriters(tx)
  const state = await saveSwitch(tx, { ...input, at: ctx.clock.now(), by: nameOf(ctx.actor) })
  await record(ctx, tx, {
    act: input.on ? 'switch.on' : 'switch.off',
    subject: input.name,
    details: { reason: input.reason },
  })
  return state
}

/** Turns a switch on because the marketplace found a reason itself. One that is on keeps its reason. */
export async function turnOnByRule(
  ctx: Needs<'clock' | 'vault'>,
  tx: Tx,
  { name, reason }: { readonly name: SwitchName; readonly reason: string },
): Promise<void> {
  await waitForWriters(tx)
  if (await isStopped(tx, [name])) return
  await saveSwitch(tx, { name, on: true, reason, at: ctx.clock.now(), by: 'system' })
  const actor = { kind: 'system', name: 'switches' } as const
  await record({ ...ctx, actor, requestId: name }, tx, {
    act: 'switch.on',
    subject: name,
    details: { reason },
  })
}

/** The switch that stops a write, for a transaction that does something else then. Otherwise as `rejectWhileStopped`. */
export async function findStopping(tx: Tx, names: readonly SwitchName[]): Promise<SwitchName | undefined> {
  if (names.length === 0) return undefined
  const on = await joinWriters(tx)
  return names.find((name) => on.includes(name))
}

/** Call it inside the transaction that writes: after `turnSwitch` returned, no such transaction commits. */
export async function rejectWhileStopped(tx: Tx, names: readonly SwitchName[]): Promise<void> {
  const stopping = await findStopping(tx, names)
  if (stopping !== undefined)
    throw new ApiError('unavailable', SWITCHES[stopping], {
      code: stopping,
      retryAfterSeconds: RETRY_SECONDS,
    })
}

/** Whether one of these is on, for messages to users only. To stop a write, use `rejectWhileStopped`. */
export async function isStopped(tx: Tx, names: readonly SwitchName[]): Promise<boolean> {
  const on = await findSwitchesOn(tx)
  return names.some((name) => on.includes(name))
}
