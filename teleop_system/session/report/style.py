# SPDX-License-Identifier: Apache-2.0
"""Style sheet of the report, for light and dark mode; it loads nothing from the network."""

STYLE = """
:root { color-scheme: light dark; --paper:#fbfbf9; --card:#fff; --ink:#1d2326; --quiet:#667076;
  --line:#e3e5e2; --grid:#eceeeb; --accent:#0b6e75; --good:#1f7a4d; --bad:#b3361f;
  --hold:#c9791a; --stop:#b3361f; --limited:#3b73b9; --info:#8a949a;
  --c0:#0b6e75; --c1:#c05a1c; --c2:#4d62b8; --c3:#a3408c; --c4:#5d7f1e; --c5:#8b6a3e; }
@media (prefers-color-scheme: dark) { :root { --paper:#14181a; --card:#1b2023; --ink:#e5e8e6;
  --quiet:#96a0a5; --line:#2c3337; --grid:#262c30; --accent:#4fb9c0; --good:#58bd8b; --bad:#ef7a63;
  --hold:#e5a04b; --stop:#ef7a63; --limited:#79a8e4; --info:#7f898f;
  --c0:#4fb9c0; --c1:#ee9257; --c2:#94a5ef; --c3:#dd86c9; --c4:#a5c95e; --c5:#c9a676; } }
* { box-sizing:border-box }
body { margin:0; background:var(--paper); color:var(--ink);
  font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif }
main { max-width:1060px; margin:0 auto; padding:36px 24px 80px }
header h1 { font-size:28px; line-height:1.15; margin:0 0 4px; letter-spacing:-.01em }
header p { margin:0; color:var(--quiet) }
h2 { font-size:18px; margin:44px 0 4px; letter-spacing:-.005em }
h3 { font-size:14px; font-weight:600; margin:0 0 4px }
section > p { margin:0 0 10px; color:var(--quiet); max-width:72ch }
.card { background:var(--card); border:1px solid var(--line); border-radius:8px;
  padding:14px 16px; margin:8px 0 }
.pair { display:grid; grid-template-columns:1fr 1fr; gap:12px }
@media (max-width:760px) { .pair { grid-template-columns:1fr } }
.figures { display:flex; flex-wrap:wrap; gap:1px;
  background:var(--line); border:1px solid var(--line); border-radius:8px; overflow:hidden;
  margin:22px 0 0 }
.figure { background:var(--card); padding:12px 14px; display:flex; flex-direction:column;
  flex:1 1 165px }
.figure span { color:var(--quiet); font-size:13px }
.figure b { font-size:25px; font-weight:600; line-height:1.3; font-variant-numeric:tabular-nums }
.figure small { font-size:14px; font-weight:400; color:var(--quiet) }
.figure em { font-style:normal; font-size:12.5px; color:var(--quiet) }
.figure.good em { color:var(--good) } .figure.bad em { color:var(--bad) }
.figure.good em::before { content:"✓ " } .figure.bad em::before { content:"✗ " }
svg { width:100%; height:auto; display:block; overflow:visible }
svg text { font:11.5px system-ui,sans-serif; fill:var(--quiet); font-variant-numeric:tabular-nums }
svg .unit { font-style:italic }
svg .name { fill:var(--quiet) } svg .name tspan { fill:var(--ink); font-weight:600 }
.grid { stroke:var(--grid) } .axis, .tick { stroke:var(--quiet); opacity:.6 }
.line { fill:none; stroke-width:1.6; stroke-linejoin:round } .line.faint { opacity:.45;
  stroke-width:1.2; stroke-dasharray:4 3 }
.c0 { stroke:var(--c0) } .c1 { stroke:var(--c1) } .c2 { stroke:var(--c2) }
.c3 { stroke:var(--c3) } .c4 { stroke:var(--c4) } .c5 { stroke:var(--c5) }
.dot { fill:var(--card); stroke-width:2 }
line.limit { stroke:var(--bad); stroke-dasharray:5 4; opacity:.8 } text.limit { fill:var(--bad) }
.band { opacity:.13 } .band.hold { fill:var(--hold) } .band.stop { fill:var(--stop) }
.band.idle { fill:var(--info) } .band.system { fill:var(--limited) }
.bar { fill:var(--accent); opacity:.8 }
.span.info { fill:var(--info) } .span.limited { fill:var(--limited) }
.span.hold { fill:var(--hold) } .span.stop { fill:var(--stop) }
.legend { display:flex; flex-wrap:wrap; gap:2px 18px; margin:4px 0 0 40px; font-size:13px;
  color:var(--quiet) }
.key { display:inline-block; width:16px; border-top:3px solid; margin-right:6px;
  vertical-align:middle } .key.faint { border-top-style:dashed; opacity:.5 }
.key.c0 { color:var(--c0) } .key.c1 { color:var(--c1) } .key.c2 { color:var(--c2) }
.key.c3 { color:var(--c3) } .key.c4 { color:var(--c4) } .key.c5 { color:var(--c5) }
table { width:100%; border-collapse:collapse; font-size:13.5px }
th { text-align:left; font-weight:500; color:var(--quiet); font-size:12.5px }
th, td { padding:4px 10px 4px 0; border-bottom:1px solid var(--grid); vertical-align:middle }
tbody tr:last-child td { border-bottom:0 }
td.n, th.n { text-align:right; font-variant-numeric:tabular-nums; white-space:nowrap }
.range, .share { position:relative; display:inline-block; height:9px; border-radius:3px;
  background:var(--grid); overflow:hidden; vertical-align:middle }
.range { width:100%; min-width:170px } .share { width:90px; margin-right:8px }
.timing .share { width:calc(100% - 56px); min-width:150px }
.range i, .share i { position:absolute; top:0; bottom:0; left:0; background:var(--accent);
  border-radius:3px } .share u { position:absolute; top:3px; bottom:3px; left:0;
  background:var(--accent); opacity:.4 } .share.warm i { background:var(--hold) }
td small { color:var(--quiet) }
.chip { font-style:normal; font-size:12px; padding:1px 8px; border-radius:9px; color:var(--card) }
.chip.info { background:var(--info) } .chip.limited { background:var(--limited) }
.chip.hold { background:var(--hold) } .chip.stop { background:var(--stop) }
.quiet { color:var(--quiet) } .scroll { overflow-x:auto }
details { margin:8px 0 } summary { cursor:pointer; color:var(--quiet) }
pre { background:var(--card); border:1px solid var(--line); border-radius:8px; padding:12px;
  overflow:auto; font:12px/1.5 ui-monospace,Menlo,Consolas,monospace; max-height:480px }
figure { margin:14px 0 0 } figure img { width:min(100%,640px);
  border-radius:8px; border:1px solid var(--line); display:block }
.caption { margin:2px 0 0; text-align:center; font-size:13px; color:var(--quiet) }
.half { max-width:560px }
@media print { body { background:#fff } .card { break-inside:avoid } }
"""
