import type { BrowserWallet, PaymentOptions, WalletAccount } from '@market/sdk/wallets'
import { useQuery } from '@tanstack/react-query'
import { usdc } from '../format.ts'
import { amountOf, micros } from '../money.ts'
import { NETWORKS } from '../names.ts'
import type { PaymentOption } from '../order/order-page.ts'

/** What stands between a wallet and a payment. */
export type Obstacle =
  | { readonly kind: 'other_network' }
  | { readonly kind: 'too_little'; readonly address: string; readonly has: string; readonly missing: string }

export function obstacleOf(
  { address, isOnNetwork, usdc: has }: WalletAccount,
  { amount_usd }: Pick<PaymentOption, 'amount_usd'>,
): Obstacle | undefined {
  if (address === undefined) return undefined
  if (!isOnNetwork) return { kind: 'other_network' }
  const due = micros(amount_usd)
  if (has === undefined || has >= due) return undefined
  return { kind: 'too_little', address, has: amountOf(has), missing: amountOf(due - has) }
}

/** The obstacle as a sentence. */
export function sentenceOf(
  obstacle: Obstacle,
  { name }: Pick<BrowserWallet, 'name'>,
  { network }: Pick<PaymentOption, 'network'>,
): string {
  const { label } = NETWORKS[network]
  return obstacle.kind === 'other_network'
    ? `${name} shows another network. It asks you to switch to ${label} first.`
    : `${name} has ${usdc(obstacle.has)} USDC on ${label}: ${usdc(obstacle.missing)} USDC are missing.`
}

/** The user can send money to the account, or switch in the wallet, at any time. */
const EVERY_MS = 4_000

/** The account of the wallet that would pay. Undefined while it is read, and where the network is not known. */
export function useWalletAccount(wallet: BrowserWallet | undefined, options: PaymentOptions | undefined) {
  const { data, refetch } = useQuery({
    queryKey: ['wallet-account', wallet?.id, options?.network.network],
    enabled: wallet !== undefined && options !== undefined,
    queryFn: async () =>
      wallet !== undefined && options !== undefined ? await wallet.readAccount(options) : null,
    refetchInterval: EVERY_MS,
    staleTime: 0,
    gcTime: 0,
    retry: false,
  })
  return { account: data ?? undefined, readAgain: refetch }
}
