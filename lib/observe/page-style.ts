import { createHash } from 'node:crypto'

/** The style sheet of the operator's page. */
export const STYLE = `:root{color-scheme:light dark;--paper:#fff;--card:#f6f7f9;--line:#d9dce3;--ink:#1b1e27;--soft:#565c6b;--accent:#2456c7;--fast:#2456c7;--mid:#8b3fb0;--bad:#c4281c;--good:#1a7a3c;
font:16px/1.5 system-ui,sans-serif;background:var(--paper);color:var(--ink)}
@media (prefers-color-scheme:dark){:root{--paper:#12141a;--card:#1b1e27;--line:#333846;--ink:#e8eaf0;--soft:#a5abba;--accent:#8fb2ff;--fast:#8fb2ff;--mid:#d59cf0;--bad:#ff8a7d;--good:#6fd596}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1500px;padding:1.5rem clamp(1rem,3vw,3rem) 3rem}
header{display:flex;flex-wrap:wrap;align-items:baseline;gap:.25rem 1rem;margin-bottom:1.25rem}
h1{margin:0;font-size:1.5rem;letter-spacing:-.02em}
h2{margin:2.25rem 0 .5rem;font-size:1.125rem}
p{margin:.25rem 0}
a{color:var(--accent)}
code,td.name{font:.9em/1.5 ui-monospace,monospace;overflow-wrap:anywhere}
.soft,.zero,dt,th,.axis,figcaption{color:var(--soft)}
.status{font-size:.875rem;font-weight:600;padding:.0625rem .625rem;border:1px solid;border-radius:1rem;color:var(--good)}
.status.bad,.bad,.errors,.p99{color:var(--bad)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(12rem,45%),1fr));gap:.75rem;margin:0}
.tiles div,figure{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.625rem .875rem}
dt{font-size:.8125rem}
dd{margin:0}
.tiles dd{font-size:1.25rem;font-weight:600;font-variant-numeric:tabular-nums}
.tiles span{display:inline-block;margin-right:.375rem}
.tiles small{display:block;font-size:.8125rem;font-weight:400;color:var(--soft)}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:.75rem;margin-top:.75rem}
figure{margin:0;min-width:0}
figcaption{font-size:.8125rem}
.plot{display:grid;grid-template-columns:auto 1fr;gap:.25rem .5rem;margin-top:.75rem}
.none{margin:3.5rem 0;text-align:center}
.axis.x{grid-column:2}
.axis.x span{display:flex;justify-content:center;width:0;white-space:nowrap}
.axis.x span:first-child{justify-content:start}
.axis.x span:last-child{justify-content:end}
svg{display:block;width:100%;height:8.5rem;overflow:visible;border-bottom:1px solid var(--soft)}
path{fill:currentColor}
path.grid{fill:none;stroke:var(--line);vector-effect:non-scaling-stroke}
path.line{fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round;stroke-linejoin:round;vector-effect:non-scaling-stroke}
.requests,.p50{color:var(--fast)}
.p95{color:var(--mid)}
.key{margin-left:.75rem;white-space:nowrap}
.key::before{content:"";display:inline-block;width:.625rem;height:.625rem;margin-right:.25rem;border-radius:2px;background:currentColor}
.axis{display:flex;justify-content:space-between;font-size:.75rem;line-height:1;margin:0;font-variant-numeric:tabular-nums}
.axis.y{flex-direction:column;text-align:right;min-width:3.5rem;margin:-.375rem 0}
table{width:100%;border-collapse:collapse;font-size:.9375rem}
th,td{padding:.375rem .75rem .375rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
th{font-size:.8125rem;font-weight:600;white-space:nowrap}
td.n,th.n{width:6rem;text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.all,th.all{width:42%;padding-left:1.5rem}
td:last-child,th:last-child{padding-right:0}
summary{padding:.5rem 0;color:var(--accent);cursor:pointer}
ul{display:flex;flex-wrap:wrap;gap:0 1.25rem;margin:0;padding:0;list-style:none}
.config{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,21rem),1fr));gap:0 2rem;margin:0}
.config div{display:flex;justify-content:space-between;gap:1rem;padding:.25rem 0;border-bottom:1px solid var(--line)}
.config dt{flex:none;font-size:.875rem}
.config dd{text-align:right;overflow-wrap:anywhere}
footer{margin-top:2.5rem;font-size:.875rem}
@media (max-width:64rem){
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table,tbody{display:block}
tr{display:grid;grid-template-columns:repeat(8,1fr);gap:.25rem .75rem;padding:.625rem 0;border-bottom:1px solid var(--line)}
td,td.n,td.all{display:block;width:auto;padding:0;border:0;text-align:left}
td.name,td.all{grid-column:1/-1}
td:empty{display:none}
td[data-label]::before{content:attr(data-label);display:block;font-size:.75rem;line-height:1.25;color:var(--soft)}
}
@media (max-width:45rem){tr{grid-template-columns:repeat(4,1fr)}}
`

/** The script of the operator's page: replaces what has changed every 5 seconds, while the page is visible. */
export const SCRIPT = `setInterval(async()=>{
if(document.hidden||!getSelection().isCollapsed)return
const page=await fetch(location.pathname).then(response=>response.ok?response.text():"").catch(()=>"")
const status=document.querySelector(".status")
if(page){
const body=new DOMParser().parseFromString(page,"text/html").body
const focused=document.activeElement?.parentNode.id
for(const {id} of document.querySelectorAll("details[open]"))body.querySelector("#"+id)?.setAttribute("open","")
document.body.replaceWith(body)
if(focused)body.querySelector("#"+focused+">summary")?.focus()
}
else{status.textContent="no answer";status.classList.add("bad")}
},5000)`

/** The Content-Security-Policy of the operator's page. */
export const POLICY: string = [
  "default-src 'none'",
  "style-src 'self'",
  `script-src 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'`,
  "connect-src 'self'",
  // The empty icon: without one, a browser asks for /favicon.ico.
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
