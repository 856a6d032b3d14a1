import { readFile, stat } from 'node:fs/promises'
import type { Screening } from '@market/core/ports/screening'

/** EVM addresses differ only in their checksum; Solana addresses are compared as they are. */
const keyOf = (address: string): string => (/^0x/i.test(address) ? address.toLowerCase() : address)

const addressesIn = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .split('\n')
      .map((line) => keyOf(line.replace(/#.*/, '').trim()))
      .filter((line) => line !== ''),
  )

/** A list in a file: one address per line, with comments after `#`. It is read again when the file has changed. */
export function fileScreening(path: string): Screening {
  let read: { readonly version: string; readonly listed: ReadonlySet<string> } | undefined
  const current = async (): Promise<ReadonlySet<string>> => {
    const { mtimeMs, size, ino } = await stat(path)
    const version = `${mtimeMs}:${size}:${ino}`
    if (read?.version !== version) read = { version, listed: addressesIn(await readFile(path, 'utf8')) }
    return read.listed
  }
  return {
    async findListed(_network, addresses) {
      const listed = await current()
      return addresses.filter((address) => listed.has(keyOf(address)))
    },
  }
}
