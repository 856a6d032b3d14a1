import type { PaymentRequirement } from './payment.ts'

/** Throws unless the asset is the USDC that x402 knows on this network: the cap in dollars counts for nothing else. */
export function checkUsdc(
  { asset, network }: PaymentRequirement,
  known: { readonly symbol: string; readonly decimals: number } | undefined,
): void {
  if (known?.symbol !== 'USDC' || known.decimals !== 6)
    throw new TypeError(`${asset} is not the USDC of ${network}. Nothing was signed.`)
}
