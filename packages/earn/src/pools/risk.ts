import type { Pool } from './pool.ts'

const RISKS: Readonly<Record<Pool['kind'], string>> = {
  lending:
    'The rate is variable. Borrowers are over-collateralized, but bad debt or a fault of the contract can cause losses, and a withdrawal can wait until the venue has liquidity.',
  liquidity_provision:
    'You are counterparty to leveraged traders and get an estimated 60 % share of the pool’s trading fees. Your principal is at risk, and the rate can be 0.00 %.',
}

/** Shown in every response that asks for money. */
export const riskOf = (kind: Pool['kind']): string => RISKS[kind]
