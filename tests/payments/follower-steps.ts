/** The steps of the follower at which a process can die: what a call of the chain or a statement has just done. */
export const STEPS = {
  'the newest blocks are read': 'movementsAfter',
  'a transfer is recorded': /^insert into "transfers"/,
  'the position moves': /^update "followed_networks" set "position"/,
  'replaced payments are marked': /set missing_since/,
  'a payment out is recorded': /^insert into "outgoing_transfers"/,
  'the reading is complete': /^update "payout_guards" set "updated_at"/,
  'the final blocks are read': 'finalMovementsAfter',
  'transfers are final': /update transfers set state = 'final'/,
  'the final block moves': /^update "followed_networks" set "final_height"/,
  'payments out are final': /^delete from "outgoing_transfers"/,
} as const satisfies Readonly<Record<string, RegExp | 'movementsAfter' | 'finalMovementsAfter'>>

export type Step = keyof typeof STEPS

/** What a process of the follower is told, in `FOLLOWER`. */
export interface FollowerSettings {
  readonly databaseUrl: string
  readonly chain: { readonly url: string; readonly chainId: number; readonly usdc: string }
  readonly treasury: string
  /** The signal that the process sends to itself at the step. */
  readonly at?: { readonly step: Step; readonly signal: 'SIGKILL' | 'SIGSTOP' } | undefined
}
