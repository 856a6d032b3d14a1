import { ApiError } from '@market/kernel/api-error'
import { DAY, later } from '@market/kernel/clock'
import { skeletonsOf } from '../../names/index.ts'
import type { Agent } from '../agent.ts'

/** An agent with a reputation must not become another one again and again. */
const RENAME_EVERY_MS = 7 * DAY

type Renamed = Pick<Agent, 'name' | 'renamedAt' | 'previousName'>

/**
 * The columns of a new name; none when it stays. A name changes once in 7 days. The owner may restore the name before at
 * any time, because somebody with a leaked API key could have changed it.
 */
export function renameColumns(agent: Renamed, name: string, by: { isOwner: boolean; now: Date }) {
  if (name === agent.name) return {}
  const names = { name, ...skeletonsOf(name) }
  if (by.isOwner && name === agent.previousName) return { ...names, previous_name: null }
  const possibleAt = agent.renamedAt === null ? by.now : later(agent.renamedAt, RENAME_EVERY_MS)
  if (by.now < possibleAt) throw renamedRecently(possibleAt)
  return { ...names, previous_name: agent.name, renamed_at: by.now }
}

const renamedRecently = (possibleAt: Date): ApiError =>
  new ApiError(
    'conflict',
    `The name of this agent changed less than 7 days ago. It can be changed again from ${possibleAt.toISOString()}.`,
    { code: 'renamed_recently', fields: { possible_at: possibleAt.toISOString() } },
  )
