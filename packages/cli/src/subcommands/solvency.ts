import { anchorsOf, checkAnchors, isAmount, isOf, micros } from '@market/solvency'
import { checkSignatures } from '@market/solvency/signatures'
import { command, type Options } from '../command.ts'
import { wholeNumber } from '../options.ts'
import { checkLeaves } from '../solvency/check-leaves.ts'
import { checkTreasuries } from '../solvency/check-treasuries.ts'
import { knownOf } from '../solvency/known.ts'
import { readProofs } from '../solvency/read-proofs.ts'
import { printable, verdictOf } from '../solvency/verdict.ts'
import { UsageError } from '../usage-error.ts'

const ADDRESS = { type: 'string', multiple: true, value: 'network=address' } as const

const OPTIONS = {
  rpc: {
    type: 'string',
    multiple: true,
    value: 'network=url',
    about: 'a node that you trust, for each network',
  },
  treasury: {
    ...ADDRESS,
    about: 'the treasury that you know, such as the address that you paid; the API must name the same',
  },
  cold: { ...ADDRESS, about: 'the cold address that you know; the API must name the same' },
  venue: {
    type: 'string',
    multiple: true,
    value: 'network=wallet:vault',
    about: 'a wallet of the marketplace and an ERC-4626 vault that you trust, of which it holds shares',
  },
  usdc: { ...ADDRESS, about: 'the USDC token, where it is not the one of Solana or Base mainnet' },
  owed: {
    type: 'string',
    value: 'usd',
    about: 'what was owed to you in the anchored snapshot, as you know it; 0.00 for nothing',
  },
  holder: {
    type: 'string',
    multiple: true,
    value: 'name',
    about: 'your wallet or agent id; a leaf of another holder fails',
  },
  'wallet-file': {
    type: 'string',
    value: 'path',
    about: 'a private key or Solana keypair: checks what is owed to this wallet, instead of the credential',
  },
  proof: {
    type: 'string',
    value: 'path',
    about: 'a saved response of GET /api/solvency/proof, instead of the credential',
  },
  'no-anchor': { type: 'boolean', about: 'do not require an anchor: a marketplace without Solana has none' },
  'max-age': {
    type: 'string',
    value: 'minutes',
    about: 'how old the newest snapshot of a treasury may be; 15 unless given',
  },
  tries: {
    type: 'string',
    value: 'n',
    about: 'how often a treasury is compared when money moves meanwhile; 3 unless given',
  },
  wait: { type: 'string', value: 'seconds', about: 'the time between tries; 10 unless given' },
} as const satisfies Options

export const verifySolvency = command({
  name: 'solvency verify',
  summary: 'Verify the proof of reserves on this machine',
  options: OPTIONS,
  notes: [
    'Checks that what is owed to you is part of the published roots, that these are anchored on Solana and signed by\nthe EVM treasuries, and that the treasuries hold what is owed. Compare the listed leaves with what you know, or pass --owed: the API can leave one out.',
    'Money counts as proven only at addresses that you name, and in treasuries that signed roots with a leaf of yours.\nUse nodes that you trust.',
    'Ends with 0 when everything is proven, with 1 when a check failed, and with 3 when a check was skipped or is a warning.',
  ],
  examples: [
    'market solvency verify --rpc solana-mainnet=https://… --rpc base-mainnet=https://… --treasury solana-mainnet=8kQw… --treasury base-mainnet=0x16E6…',
  ],
  run: async ({ values }, session) => {
    const known = knownOf(values)
    const { owed } = values
    if (owed !== undefined && !isAmount(owed))
      throw new UsageError(`--owed is ${owed}. Write an amount such as 12.50.`)
    const holders = values.holder.length === 0 ? undefined : values.holder
    const limits = {
      tries: wholeNumber('tries', values.tries) ?? 3,
      waitMs: (wholeNumber('wait', values.wait) ?? 10) * 1_000,
      maxAgeMs: (wholeNumber('max-age', values['max-age']) ?? 15) * 60_000,
    }
    const isAnchored = !values['no-anchor']
    const market = session.anonymous()
    const checks = await session.during('Verifying …', async () => {
      const networks = await market.getSolvency()
      const { data: listed } = await market.listAnchors({ limit: 100 })
      const anchors = anchorsOf(networks, listed, known, isAnchored)
      const { newest, isRead, problemOf } = anchors
      const asked = await readProofs(values, newest, session)
      const isVerified = newest !== undefined && isRead && (await problemOf(newest)) === undefined
      const signatures = checkSignatures(networks, anchors, known.treasuries)
      // Another marketplace can show the same text and signatures, but no leaf of this user in their roots.
      const isOwed = asked.proofs.some((proof) => newest?.networks.some((entry) => isOf(proof, entry)))
      const signers = isVerified && isOwed ? signatures.signers : new Map<string, string>()
      return [
        ...(await checkAnchors(anchors)),
        ...signatures.checks,
        ...(await checkLeaves(asked, {
          ...{ networks, anchors, known, holders },
          owed: owed === undefined ? undefined : micros(owed),
        })),
        ...(await checkTreasuries({ networks, newest, isVerified, signers, known, ...limits }, market)),
      ]
    })
    const { verdict, status, sentence, next } = verdictOf(checks, isAnchored)
    const printed = checks.map(printable)
    return {
      json: { ok: status === 0, verdict, checks: printed, ...(next !== undefined && { next }) },
      status,
      print: (printer) => {
        printer.checks(printed)
        printer.text(sentence)
        if (next !== undefined) printer.next(next)
      },
    }
  },
})
