import { BOUNTY_CHECKS } from './check-bounties.ts'
import { CHAIN_CHECKS } from './check-chains.ts'
import { EARN_CHECKS } from './check-earn.ts'
import { LEDGER_CHECKS } from './check-ledger.ts'
import { ORDER_CHECKS } from './check-orders.ts'
import { RESPONSE_CHECKS } from './check-responses.ts'
import type { Checks, Facts } from './facts.ts'

export const INVARIANTS: Checks = {
  ...LEDGER_CHECKS,
  ...ORDER_CHECKS,
  ...BOUNTY_CHECKS,
  ...EARN_CHECKS,
  ...CHAIN_CHECKS,
  ...RESPONSE_CHECKS,
}

export interface Violation {
  readonly invariant: string
  readonly details: readonly string[]
}

export const violationsOf = (facts: Facts): Violation[] =>
  Object.entries(INVARIANTS).flatMap(([invariant, check]) => {
    const details = check(facts)
    return details.length === 0 ? [] : [{ invariant, details }]
  })
