/** What an expression reads: its metrics with the labels of their matchers, and the labels it groups by. */
interface Expression {
  readonly metrics: readonly { readonly name: string; readonly labels: readonly string[] }[]
  readonly groupedBy: readonly string[]
}

const KEYWORDS = new Set(['and', 'or', 'unless', 'bool', 'offset', 'inf', 'nan'])
const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g
const SELECTOR = /([a-zA-Z_:][\w:]*)(?:\s*\{([^}]*)\}|(?!\s*[({\w:]))/g

/** Enough of PromQL for our files: no metric is named by a label, and no label value contains a brace. */
export function readExpression(expression: string): Expression {
  const plain = expression.replace(/'[^']*'|"[^"]*"/g, '""').replace(/\[[^\]]*\]/g, '')
  const groupedBy = [...plain.matchAll(GROUPING)].flatMap(([, list = '']) =>
    list
      .split(',')
      .map((label) => label.trim())
      .filter((label) => label !== ''),
  )
  const metrics = [...plain.replace(GROUPING, ' ').matchAll(SELECTOR)]
    .map(([, name = '', matchers = '']) => ({
      name,
      labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
    }))
    .filter(({ name }) => !KEYWORDS.has(name.toLowerCase()) && !/^e\d*$/.test(name))
  return { metrics, groupedBy }
}
