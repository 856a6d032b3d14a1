// Plain JavaScript, because an older Node cannot load the sources: it would end with ERR_UNKNOWN_FILE_EXTENSION.

const NEEDED = 24

/** What is wrong with this version of Node; undefined when it runs the sources. */
export function nodeProblem(version) {
  if (Number.parseInt(version, 10) >= NEEDED) return undefined
  return `This is Node ${version}, and a checkout of Agent Market needs Node ${NEEDED}. Install it from https://nodejs.org, then try again.`
}

const problem = nodeProblem(process.versions.node)
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`)
  process.exit(1)
}
