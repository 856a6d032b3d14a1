export { changePortfolio } from './hide-source.ts'
export { listPortfolio, newestPortfolio } from './list-portfolio.ts'
export type { PortfolioEntry } from './portfolio.ts'
