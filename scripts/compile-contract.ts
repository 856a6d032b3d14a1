import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename } from 'node:path'
import solc from 'solc'

/** Where a contract of tests is written: its name in the source, and the constant with its creation code. */
type Contracts = Readonly<Record<string, string>>

/** By file in packages/testing/src/contracts, without the extension. */
export const SOURCES: Readonly<Record<string, Contracts>> = {
  'payment-tricks': { Forger: 'FORGER_BYTECODE', Batch: 'BATCH_BYTECODE' },
  usdc: { TestUsdc: 'USDC_BYTECODE' },
  venues: {
    LendingVault: 'LENDING_VAULT_BYTECODE',
    LiquidityVault: 'LIQUIDITY_VAULT_BYTECODE',
    FeeVault: 'FEE_VAULT_BYTECODE',
    ZeroMaxVault: 'ZERO_MAX_VAULT_BYTECODE',
    LyingVault: 'LYING_VAULT_BYTECODE',
  },
  'wallet-factory': { WalletFactory: 'WALLET_FACTORY_BYTECODE' },
}

const SETTINGS = { evmVersion: 'cancun', optimizer: { enabled: true, runs: 200 } }

const fileOf = (source: string, extension: string): URL =>
  new URL(`../packages/testing/src/contracts/${source}.${extension}`, import.meta.url)

const readImport = (path: string) => {
  try {
    return { contents: readFileSync(createRequire(import.meta.url).resolve(path), 'utf8') }
  } catch (error) {
    return { error: String(error) }
  }
}

interface Output {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly evm: { readonly bytecode: { readonly object: string } } }>>
    >
  >
}

/** The module with the creation code of a source's contracts, and where it belongs. */
export function compileContracts(source: string): { readonly file: URL; readonly text: string } {
  const names = SOURCES[source] ?? {}
  const path = fileOf(source, 'sol')
  // The name is part of the metadata, and so of the code.
  const name = basename(path.pathname)
  const input = {
    language: 'Solidity',
    sources: { [name]: { content: readFileSync(path, 'utf8') } },
    settings: { ...SETTINGS, outputSelection: { [name]: { '*': ['evm.bytecode.object'] } } },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: readImport })) as Output
  const faults = (output.errors ?? []).filter(({ severity }) => severity === 'error')
  if (faults.length > 0) throw new Error(faults.map((fault) => fault.formattedMessage).join('\n'))
  const constants = Object.entries(names).map(
    ([contract, constant]) =>
      `export const ${constant}: Hex =\n  '0x${output.contracts[name]?.[contract]?.evm.bytecode.object}'\n`,
  )
  const [version] = String(solc.version()).split('+')
  const { evmVersion, optimizer } = SETTINGS
  const text = [
    `// Written by \`npm run contracts\` from ${name}: solc ${version}, evmVersion ${evmVersion}, optimizer ${optimizer.runs} runs.\n`,
    "import type { Hex } from 'viem'\n",
    ...constants,
  ].join('\n')
  return { file: fileOf(source, 'ts'), text }
}
