import type { AgentId } from '@market/kernel/ids'

/** What a user allowed a program to do, until the user or the program ends it. */
export interface Grant {
  readonly id: string
  readonly userId: string
  /** The agent for which the program acts. Null when it acts for the user: it then buys, and sells nothing. */
  readonly agentId: AgentId | null
  readonly clientId: string
  readonly clientName: string
  /** Who received the access, so that users recognize it: a host, or a program on the device. Programs choose their own names. */
  readonly redirectHost: string
  readonly scopes: readonly string[]
  readonly createdAt: Date
  /** To the minute. */
  readonly lastUsedAt: Date | null
  readonly endedAt: Date | null
}

export type NewGrant = Omit<Grant, 'createdAt' | 'lastUsedAt' | 'endedAt'>

/** Something that a connected program changed, so that users can check it after the connection has ended. */
export interface GrantChange {
  /** The id of the operation. */
  readonly operation: string
  /** The id of what was changed. */
  readonly subject: string
  /** The names of the fields that were sent. */
  readonly fields: readonly string[]
  /** The last time. */
  readonly changedAt: Date
}
