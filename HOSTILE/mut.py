import glob,os,random,re,sys,collections,time
import numpy as np, rlx
seed=int(sys.argv[1]); N=int(sys.argv[2]); rng=random.Random(seed)
OPS=[("R.add","R.subtract"),("R.multiply","R.add"),("R.maximum","R.minimum"),("R.exp","R.sigmoid"),("R.sum","R.max"),("R.nn.relu","R.exp"),("T.exp","T.sigmoid"),(" + "," - "),(" * "," + "),("T.max","T.min"),("axis=1","axis=0"),("axes=[1, 0]","axes=[0, 1]"),(" < "," <= "),(" - "," + "),("//","%"),("T.float32(0.0)","T.float32(1.0)"),("k]","k, 0]")]
def mutate(t):
    i=t.find("class "); i = 0 if i<0 else i
    for _ in range(20):
        if rng.random()<.5:
            ms=[m for m in re.finditer(r"(?<![\w.])\d+(?![\w.])",t) if m.start()>i]
            if not ms: continue
            m=rng.choice(ms); v=int(m[0]); w=rng.choice([v+1,max(0,v-1),0,1,2*v])
            if w==v: continue
            return t[:m.start()]+str(w)+t[m.end():], f"{v}->{w} line {t.count(chr(10),0,m.start())+1}"
        a,b=rng.choice(OPS)
        ps=[m.start() for m in re.finditer(re.escape(a),t) if m.start()>i]
        if not ps: continue
        p=rng.choice(ps)
        return t[:p]+b+t[p+len(a):], f"{a}->{b} line {t.count(chr(10),0,p)+1}"
    return None,None
files=[f for f in sorted(glob.glob('/work/shared/pairs/*.before.rlx'))]+sorted(glob.glob('/work/w/refine/examples/*.rlx'))
c=collections.Counter(); wrong=0
for k in range(N):
    f=rng.choice(files); b=f.replace('.before.','.after.')
    before=open(f).read(); t=open(b).read()
    m,what=mutate(t)
    if m is None: continue
    try:
        if not rlx.check(m).ok: c['illegal']+=1; continue
    except Exception as e: print('CHECK EXC',f,what,repr(e)[:100]); continue
    t0=time.process_time()
    try: r=rlx.refines(before,m,floats=rng.choice(["real","bitwise"]))
    except Exception as e:
        n=type(e).__name__; c[n]+=1
        if n not in('InterfaceError','IllFormedError'): print('EXC',f,what,repr(e)[:200],flush=True); open(f'/tmp/rf/exc_{seed}_{k}.rlx','w').write(m)
        continue
    dt=time.process_time()-t0
    if dt>5: print('SLOW',round(dt,1),f,what,flush=True)
    c['proved' if r.proved else 'refuted' if r.refuted else 'unknown']+=1
    if r.proved:
        for sz in (1,2,3,5):
            try:
                x=rlx.run(before,inputs=None,seed=sz) if False else None
            except Exception: pass
        # run all public functions with the same random inputs
        import rlx.generate as g
        A=rlx.parse(before); B=rlx.parse(m)
        for gv in A.functions:
            name=gv if isinstance(gv,str) else gv.name_hint
            for s in (1,2,4,7):
                names=sorted({str(v) for v in re.findall(r'"([a-z]\w*)"',before)})
                try:
                    ra=rlx.run(before,name,inputs={}, seed=s) ; rb=rlx.run(m,name,inputs={}, seed=s)
                except TypeError as e:
                    print('RUNAPI',e); sys.exit()
                except Exception as e: continue
                if ra.ok:
                    same = rb.ok
                    if same:
                        try:
                            xa,xb=ra.numpy(),rb.numpy()
                            fl=lambda v: [v] if not isinstance(v,(tuple,list)) else [z for w in v for z in fl(w)]
                            same=all(np.allclose(p,q,rtol=1e-3,atol=1e-3,equal_nan=True) and np.shape(p)==np.shape(q) for p,q in zip(fl(xa),fl(xb)))
                        except Exception as e: pass
                    if not same:
                        wrong+=1; print('WRONG',f,what,name,s,str(ra)[:80],'|',str(rb)[:80],flush=True); open(f'/tmp/rf/wrong_{seed}_{k}.rlx','w').write(m); break
print(c,'wrong',wrong)
