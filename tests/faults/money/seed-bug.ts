import { registerHooks } from 'node:module'
import { BUGS } from './bugs.ts'

/** Loaded before a program: changes its source while it is read. The product itself knows nothing of it. */
const name = process.env['SEEDED_BUG']
const bug = BUGS.find((one) => one.name === name)
if (bug === undefined) throw new Error(`no bug is called ${name}`)

/** A change that no longer fits its file must not pass for a bug that was found. */
function changed(file: string, source: string): string {
  return (bug?.changes ?? [])
    .filter((change) => change.file === file)
    .reduce((text, { from, to }) => {
      if (text.split(from).length !== 2) throw new Error(`${name}: ${file} has not exactly one ${from}`)
      return text.replace(from, () => to)
    }, source)
}

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const file = bug.changes.find((change) => url.endsWith(`/packages/${change.file}`))?.file
    if (file === undefined || loaded.source === undefined || loaded.source === null) return loaded
    const source = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source)
    return { ...loaded, source: changed(file, source) }
  },
})
