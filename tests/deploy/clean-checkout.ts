import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Copies the files that git has or would add, so that nothing of this machine's builds and installs is among them. */
export function copyCheckout(folder: string, isWanted: (file: string) => boolean = () => true): void {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z']
  const files = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\0')
  for (const file of files.filter((one) => one !== '' && existsSync(join(ROOT, one)) && isWanted(one))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(ROOT, file), join(folder, file))
  }
}
