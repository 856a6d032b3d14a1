import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')

/** False in a shallow clone that does not contain it. */
export const hasCommit = (commit: string): Promise<boolean> =>
  run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT }).then(
    () => true,
    () => false,
  )

/** A commit of the files as they are here, on no branch: stands for the last release until there is one. */
export async function plantRelease(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'market-index-'))
  try {
    const git = async (...args: string[]) => {
      const env = { ...process.env, GIT_INDEX_FILE: join(folder, 'index') }
      return (await run('git', args, { cwd: ROOT, env })).stdout.trim()
    }
    await git('read-tree', 'HEAD')
    await git('add', '--all')
    const author = ['-c', 'user.name=release', '-c', 'user.email=release@example.com']
    return await git(...author, 'commit-tree', '-m', 'release', await git('write-tree'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Builds the programs of a commit, with the packages that are installed here. */
export async function buildRelease(commit: string) {
  const folder = mkdtempSync(join(tmpdir(), 'market-release-'))
  const tree = join(folder, 'tree')
  await run('git', ['worktree', 'add', '--detach', tree, commit], { cwd: ROOT })
  linkPackages(tree)
  await run(process.execPath, ['scripts/build.ts'], { cwd: tree })
  return {
    dist: join(tree, 'dist'),
    remove: async () => {
      await run('git', ['worktree', 'remove', '--force', tree], { cwd: ROOT })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const WORKSPACES = '@market'

/** A link to our folder would lead to our own packages, so only those of others are linked. */
function linkPackages(tree: string): void {
  const [ours, theirs] = [join(ROOT, 'node_modules'), join(tree, 'node_modules')]
  mkdirSync(join(theirs, WORKSPACES), { recursive: true })
  for (const name of readdirSync(ours))
    if (name !== WORKSPACES) symlinkSync(join(ours, name), join(theirs, name))
  for (const group of ['apps', 'packages'])
    for (const name of readdirSync(join(tree, group)))
      symlinkSync(join(tree, group, name), join(theirs, WORKSPACES, name))
}
