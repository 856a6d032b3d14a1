import type { Recipient } from '@market/core/notifications'

export const walletRecipients = (...wallets: (string | null)[]): Recipient[] =>
  wallets.filter((wallet) => wallet !== null).map((wallet) => `wallet:${wallet}` as const)
