import { z } from 'zod'
import { described } from './described.ts'

/** The markets in which pools earn, and the wallets that hold their shares. Read by the api and by the worker. */

export const evmAddress = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be an EVM address')
export const evmKey = evmAddress.transform((text) => text.toLowerCase())

const part = z.string().regex(/^[a-z0-9-]{1,32}$/, 'must be 1 to 32 of a-z, 0-9 and -')

const Market = z
  .strictObject({
    venue: part,
    market: part,
    kind: z.enum(['lending', 'liquidity_provision']),
    label: z.string().trim().min(1).max(80),
    network: z.enum(['base-mainnet', 'alt-mainnet']),
    /** An ERC-4626 contract for the network's USDC. */
    vault: evmKey,
  })
  .transform((one) => ({ ...one, key: `${one.venue}:${one.market}` }))

const isUnique = (texts: readonly string[]): boolean => new Set(texts).size === texts.length

const parseJson = (text: string, ctx: z.RefinementCtx<string>): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    ctx.addIssue('must be a list in JSON')
    return z.NEVER
  }
}

const earnMarkets = z
  .string()
  .default('[]')
  .transform(parseJson)
  .pipe(
    z
      .array(Market)
      .max(100)
      .refine((all) => isUnique(all.map(({ key }) => key)), 'must have each venue:market once')
      // Two pools cannot tell their shares of one vault apart.
      .refine((all) => isUnique(all.map(({ network, vault }) => `${network} ${vault}`)), {
        message: 'must have each vault once',
      }),
  )

const venueWallet = described(
  evmKey.optional(),
  "the address of the wallet that holds the shares of the network's vaults. It must not be a treasury, gas account or cold address of any EVM network. USDC that it or a vault sends to the treasury pays for nothing",
  { default: 'required for markets of the network' },
)

export const venueSettings = {
  EARN_MARKETS: described(earnMarkets, 'a JSON list of markets, as below'),
  BASE_VENUE_WALLET: venueWallet,
  ALT_VENUE_WALLET: venueWallet,
}

export type VenueConfig = z.infer<z.ZodObject<typeof venueSettings>>
export type EvmName = 'BASE' | 'ALT'

const EVM: readonly EvmName[] = ['BASE', 'ALT']

const NETWORKS = { BASE: 'base-mainnet', ALT: 'alt-mainnet' } as const

export const marketsOn = ({ EARN_MARKETS }: VenueConfig, name: EvmName) =>
  EARN_MARKETS.filter(({ network }) => network === NETWORKS[name])

/** What a chain needs to know of its venues: their transfers into the treasury pay for nothing. */
export function venuesOfChain(config: VenueConfig, name: EvmName) {
  const venueWallet = config[`${name}_VENUE_WALLET`]
  const vaults = marketsOn(config, name).map(({ vault }) => vault)
  return { venueWallet, ownPayers: [...(venueWallet === undefined ? [] : [venueWallet]), ...vaults] }
}

type OtherAddresses = Readonly<
  Partial<Record<`${EvmName}_${'TREASURY' | 'GAS_ACCOUNT' | 'COLD_ADDRESS'}`, string | undefined>>
>

/** Addresses that a venue wallet must not be. An EVM key is the same account on every EVM network. */
const OTHERS = EVM.flatMap(
  (name) => [`${name}_TREASURY`, `${name}_GAS_ACCOUNT`, `${name}_COLD_ADDRESS`] as const,
)

export function checkVenueSettings(config: VenueConfig & OtherAddresses, ctx: z.RefinementCtx): void {
  for (const name of EVM) {
    const path = `${name}_VENUE_WALLET` as const
    const fault = (message: string) => ctx.addIssue({ code: 'custom', path: [path], message })
    const wallet = config[path]
    if (wallet === undefined) {
      if (marketsOn(config, name).length > 0) fault(`is needed for the EARN_MARKETS on ${NETWORKS[name]}`)
      continue
    }
    for (const other of OTHERS.filter((one) => config[one]?.toLowerCase() === wallet))
      fault(`is ${other}: the shares of vaults are held by a wallet of their own`)
  }
}
