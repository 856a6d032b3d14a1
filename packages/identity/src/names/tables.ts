// Written by `npm run names:tables` from ICU 72.1, Unicode 15.0.

/**
 * UTS-39 confusable characters: `target=source,source`, code points in base 36. A source is written as its distance
 * from the one before.
 */
export const CONFUSABLES = `
33=1c,pb,3,1,o,2r,93,2k,2u,u,2h,3,k,w,5n,bq,3k,3k,3k,1m,1y,3k,s,2s,s,2s,s,u,1y,s,5q,3k,99,z,5b,cx,20v,2,32m,51,j7,n3g,18q,h91,p,ap,5a,18,33u,rp,j,f,9
30=1d,o,99,16,d5,31,56,7p,a,20,1m,40,61,2dw,5o,ev,4b5,1q,3j,nma,h,ihk,3j,n,6z,7f,3ul,f,h2c,i,o0v
36+32=31,mn,2m,y,32z,ft,6e,4aq,nrb,ij5,2p,3xr,df 2s+mt=5s,1t,3c 2p+2t=6e,rz 6pu+mt=6o,2od9 33+mw=6w,8qx,ovx
2w+mt=87,ms,1enm 2x=8h,8o,1,9b,4d,3d,vw8,10u,lla 30+mw=8y 33+2t=9f 38+mt=9z 2q+mt=ao,kj,16 13+2q=ap
2q+lg=ar,i6 2q=as,em,3k,q,337,11,3i,8t,20,s7t,kk,hxq,v,2o 2r+13=av 13+2s=ay 2s+lg=b0
2v=b1,5w,iz,39,2tb,1f,1w0,qqb 2u+me=b6 2v+13=b7 30+mt=bb,3 2z+13=bc 2z+lw=bd 32+me=bh 32+mh=bi,ex 13+34=bo
34+lw=bp 36=bq,i5,31q,1d,c5,1i7,31b,nry,19g,1,1l,hmb,l1d 1e=br,g1,3br,sqt,4r,2z 13+38=bw 38+lw=bx 38+mg=by
13+3d=c3 3d+lw=c4 3e+mt=c6 1f=c7,2t,e3,5l,7vw,o7y,1t,mcf,h2p 1e+mt=cb 1h=cc,1j3z
37=cd,ig,6y,2va,snh,gf,vt,h64,c2,41l,h2x 72=cf,ft,1eq4 30+30=ch,tr x=cj,8lq 2v+mt=dh
1k=f7,1jb,3k,49,1d07,19dd 3e+me=f9 2r+mw=fw 38+mw=fy 1r=g1,2b,1d5,20h,t31 39+mt=g4,5dm,s2m 2t+mw=g7 2y+mt=g9
36+mt=gd,g6 3d+mt=gf,g3,v 2p=gh,9s,3j,322,ez,sa1,iia,lgg 2q+lw=gj 2s+mg=gm 2s+lw=gn d9=gp,hs,7z5,nnb
d9+ke=gq x3n=gr,9m,4f,59,7so,p3m,hhq,42t,h27 2v+lw=gw
3d=gz,18,7q,e,2o,1c,30,2ew,jm,8,c,6g,1rb,ab,2o5,10,nr8,19q,h94,4c2,1k,h0r,1o 2w+lw=h2,3gs,syr 2x+mt=h4,5cj,1
30+ms=h7 30+mg=h9 30+f1=ha 3b=hb,du,58,1w,2ue,d,ez,1f6,qtl,1ax,l8n,4,1,d3,9 36+32+me=hd,gs 32+mg=hf
33+mt=hh,8z,57,3a,7yg,o4a,ub,19 33+5qf=hi 36+mh=ho 36+mg=hp 37+mg=hu
39=i3,8q,c8,2gz,gc,1qo,qu0,iz,q7,4,hpg,3xe,h2i 3e+mg=i8 f1=ia,gf,2du,5i2,o7y 35+lw=io 2s+3e=ir 2s+f1=is
2s+i9=it 38+37=iu 38+hv=iv 38+gl=iw 2u+97=ix 30+37=iy 30+3e=iz 13=jd,2,1,1,1,a,2,1,lq,ez,1,2fp,hu,slc,13gl,1
13+13=je,1g,lg 121=jj 2m=jq 1m=k0,183,ao,uii lg=lh,no,b6,44n,ra7 li=lo,2q,kq,2,vmq 19s=lp
li+lj=ls,rc,ex,3k,74,3k,73,3l,3k,1g3i le=lt,ne,b7,44i,ra8 lv=lx,lg,1i,is 18w=lz,lf mp=m8,182 me=m9,6,i
mg=ma,z,4mq mt=mu mw=mv lf=n6,lt mr=nb nk=nr,141,7 lj=ns,gx,1,7,1,2,88,2c,1,4s,71,o,74,3k,97
lm=o6,g9,4j,3x,wz,jv,3k,a1,1hs,d,4d3,j4,18py 8s6=og,37c,t1l,y7 5qm=on,5d,w2x,ii4 gk=or,51x,vo,pxz,iuo x1b=ot
2t=ph,4g,3s,2y7,51p,nnb,18i,h90,4dc,8 3e=pi,51o,qt6,1br,h9e,4ac,r,x 2w=pj,3q,4e,51,2tn,7,ca,4k2,nrt,ijs
2z=pm,3k,34c,kv,4an,nr7,j0h i4=pn,3k,gd,40,2m1,1rq,368,nn2,dl,i4f,gb,l0l 32=pp,d7,4,2jo,dq,4ss,nra,l,izi
hv=pv,886,ow4 38=pw,3i,328,4xw,nqm,iir,q,2s,49z,h1q 3c=pz,4e,3cs,1o,8q,4c5,4x,nm6,js,hy5,10,2r,b,ed,3wl
67=qa,37i,t6t 61r=qc,ca,2vp,ac,4jz,62,163p,u,lfb 8o=qi,3k,4wh,32i,p41
3a=ql,54,9v,3z,40,2m0,1rl,36g,nn2,e1,y2,ho4,3jd,ca,h1k 34=qp,3j,336,3v,4s6,nqm,iis 5qz=qs,3i,x0w
hk=qu,3i,7j,2jx,xc,4aj,16a0 2u=rg,bs,374,1rd,qio,jg,po,h8y,u,hs,3vh bs=rt,4zf,r35 2y=s3,2t,30z,6a,si4,k9
2q+30=tn 30+33=tq 1i=tt,33x,4x0,1amb ih=tu,34a gs=tz,4wh i5=u4,4wh,s56 ik=u5,x1q qo=u7,4x5,320,o57
2r=u9,4w3,335,nqt,1cl,h6b,2o,8r,67,3wt,9 jt+2q=ui at+2x=uj at=uk,x1v 5qx=un qw=vl,3mv,4ba,169z,g4
3b+w6+w7=vx 5qm+me+lc=wa 5qm+me+li=wb 3d+13=wg 36+13=wh ty+mh=wn 1f+me=wo gs+me=wp 2z+mh=wq,7v3 8o+mh=wr
2z+mt=wu,w4i 8o+mt=wv 2w+mh=wy,7ut ik+mh=wz 2r+me=x7 38+mh=x8 5qz+mh=x9 3c+mh=xe 2t+mg=xr i4+me=xx u3+me=xy
2w+me=xz,2 ik+me=y0,2 xj=y4 i5+me=y6 2s=zl,2vz,1z,3s,a7,c,s88,1 b9=zu gy=zx,2y6,txx 35=10b,20,3,7vz 3ou=117
3k6=11g 3s3=11m 3mp=11o fr=12t hc=12y,2i1 ld=13w,1,3f,1i,6x,el 13u=144 13t=148 13q=14d 13s=14e
mb=14k,h,47,i9,27,3k,3k,3k,3k,3hd,1avx,1hs,l5 30+13=169 18p+1cr=17v,k,1r,1r,k 183+1cr=184 18p+le=18d
18p=18q,10,24,i,6,dn ln=18r,it mh=192,4g6 lu=193 lw=199 191=19b 1a=19c,40,v7s,1ncl 1b5=19r,gc,1 30+19w=19u
30+191=19v 18p+179=1a1,1u 17x+190=1a9,6p 17x+1cr=1ad 17z+179=1ag 1ai+179=1aj 17z+1cr=1am 181+179=1ap
181+li=1aq 181+1cr=1aw 185+1cr=1b2 187+1cr=1b3 1b5+1cr=1b8,4 18h=1bb 18j=1bd,1 18j+1cr=1bh,52 1bj+1cr=1bo
18k+li=1bp 18k+1cr=1br 17t=1c3 18o+li=1c6 18o+lv=1c7 18o+19s=1c8 18o+le=1c9 18o+1cr=1cb 18p+li=1ce,3s
1a3=1cg 17z+le=1da 181+le=1db 19e=1de,w65 19f=1df,2n6e 19g=1dg 19i=1di 19l=1dl,ha,1hml 33+le=1dr 1fg=1fm
17s+1cr=1g1 1bg=1gi 1g4=1gn,8y 18m+179=1go 18m+li=1gp 181+190=1gs 1av+179=1gx 183+le=1ha lk=1kj,6w 2n=1kq
17s+190=1pd 1b6+1cr=1pg 18l+1cr=1pj 18p+190=1pk 17z+mc+mb=1pq 185+mc+mb=1pr 1bj=1ps 18o=1pt,1df7 182+le=1pu
17s+1cy=1py 18p+1cr+1cy=1pz 181+li+lj=1q1 18p+li+lj=1q2 18s=1r9,3,9 mc=1ri,3xs 18t=1rm no=1rt np=1ru nm=1s0
1s5+1ty=1s4 1s5+1tq=1s6 1tc+1u5+1s7=1s8 1sf+1tx=1sd 1sf+1ty=1se 1sf+1tz=1sg 1s5+1u1=1sh 1s5+1tq+1ty=1si
1s5+1tq+1tz=1sj 1s5+1tq+1u0=1sk lc=1ub 1vp+1xa=1vq 1vv+1xf=1y8,1 1l=1yl,3e,75,ed,671,o84,me6,a
1vn=1z7,e8,3k,3k,3k,j9,1fgp 1z9+20u=1za 22a+20v=1zb 22a+20w=1zc 22b+20x=1zd 22b+20y=1ze 22a+213=1zj
1z9+214=1zk 1z9+218=1zo 1ty=217 1u5=219,3k 22t+24e=22u 22t+24l=231 22t+24n=233 22t+24o=234 22t+24e+24l=235
22t+24e+24n=237 22t+24e+24o=238 1tp=24d 1tt=24h 1tu=24i 1uw=25k 1ux=25l 1uy=25m 1v2=25q 26d+27y=26e
2a1+2b7=2a2 2a8=2ak,ao 2a0=2b4,e 2ax=2bs 2b7=2c7 2ad=2cn 2a1=2co,81 2ai=2cq 2a0+2bl=2cr 2ai+2bl=2cs 2a6=2ct
29x=2cu 2b3=2cw 2ai+2bm=2cy 2du+2fp=2dv,3k 2du+2fg=2dw,3k 2eo+14s=2e8 2e9+mb=2ea 2ef+14s=2ed 2ek+mb=2el
2et+2f5=2em 2et+mb=2ev 2et+2f2=2ex 2f5+2f2=2f6 2f7+2f2=2f8 2dn+2f2=2g0 2do+2f2=2g1 2dh=2h1 2di=2h2 2dj=2h3
2du=2he 2e4=2ho 2e6=2hq 2eb=2hv 2en=2i7 2ep=2i9 2eq=2ia 2h8+2im=2jl 2g7=2jr 2g8=2js 2gf=2jz 2kn+2mv=2ko
2a1+2mv=2kq 2lk+2m9=2ks,d 2ku+2me=2kw 2ky+2m6=2kz 2ky+2mv=2l0 2ar=2lf 2ls=2lt 2b8=2lw 2ba=2ly 2an+2bj=2m2
2bj=2m7,1 2m9=2ma,1 2me+2me=2mg 1v5=2mm 2lk+2ml+2lq=2my 33+2ls+33=2n3 2la=2n5 2ls+2ml=2ne,i 2li+2ml+2ls=2nf
2lk+2ml+2lk=2ng 2lx+2ml+2ls=2ni 2lk+2ml=2nj,c 2m1+2ml+2lq=2nq 2qw+2q7=2qx 2oy=2qy 2pb=2qz 2qw+2qb=2r3
2rm=2rn 2ru=2rv 2ry=2rz 2ro=2s4,1 2s1=2s7 2rq=2sh 2sg=2sm 2tc+2tc=2td 2sy=2th 2rs=2vc 2si=2vh 2sa=2vu
2sb=2vv 2sd=2vx 2se=2vy 2sf=2vz 2t4=2wo 2t5=2wp 2tk=2x4,1s3 2tl=2x5 2tm=2x6 2tn=2x7 31k+324+326=2yo
md=307,6ie 31e=31m 35u+370=35s 33+370=368 36d+370=36n 36m+37g=36x 36m+37g+375+370+37e=36y 37l=38l
36d+37i=38m 36d+370+37i=38v 35v+37i=38w 399+37i=39a 35u+37i=39d x3b=3a8 3cw+3cw=3cx,4o 3cz+3cz=3d0,139l
3d3+3d3=3d4,13a6 3d5+3d5=3d6,4x 3d8+3d8=3d9,13ak 3cy+3cw=3df,4y 3cy+3cy=3dg,6j 3cy+3cz=3dh,4x 3cy+3d3=3di
3cz+3cw=3dj,4z 3d1+3cy=3dk,51 3d1+3d1=3dl,53 3d1+3de=3dm,x,3f,135o 3d1+3d7=3dn,139e 3d2+3d3=3do,5c
3d2+3d7=3dp,5h 3d3+3cw=3dq 3d3+3cy=3dr 3d3+3cz=3ds,139f 3d3+3d5=3dt,48 3d3+3d5+3cw=3du 3d3+3d5+3cz=3dv,139g
3d3+3d5+3d3=3dw 3d3+3d5+3d5=3dx 3d3+3d5+3d8=3dy 3d3+3d8=3dz,139d 3d3+3da=3e0,139d 3d3+3dc=3e1 3d3+3dd=3e2,56
3d3+3d7=3e3,57 3d3+3d3+3d7=3e4 3d5+3cw=3e5,56 3d5+3cy=3e6 3d5+3cz=3e7,55 3d5+3d1=3e8,55 3d5+3d2=3e9,1395
3d5+3d3=3ea,54 3d5+3d3+3cw=3eb 3d5+3d5+3d5=3ec 3d5+3d7=3ed 3d5+3d8=3ee,1395 3d5+3da=3ef,1395 3d5+3db=3eg
3d5+3dc=3eh,1394 3d5+3dd=3ei 3ek+3ek=3el 3em+3em=3en 3d7+3cw=3ep,4r 3d7+3cz=3eq 3d7+3d2=3er 3d7+3d3=3es
3d7+3d5=3et,4s 3d7+3eo=3eu,4s 3d7+3d7=3ev,4n 3d7+3d8=3ew 3d7+3da=3ex 3d7+3dc=3ey 3d7+3dd=3ez 3d8+3d7=3f1
3f2+3f2=3f3 3f4+3f4=3f5 3da+3db=3f6 3da+3de=3f7 3dd+3d3=3fa,4d 3dd+3d7=3fb,4d 3de+3de=3fc 3cw+3cz=3fe
3cy+3d5=3ff,30 3cy+3d8=3fg,28 3cy+3de=3fh,28 3cz+3d1=3fi,31 3fl+ffs=3fm 3fn+ffs=3fo 3fp+ffs=3fq 3fr+ffs=3fs
3ft+3fl=3fu 3ft+3fl+ffs=3fv 3ft+ffs=3fw 3fy+3fp=3fz 3fy+3fp+ffs=3g0 3fy+ffs=3g1 9oc=3g3,byl,hrr 9oc+ffs=3g4
ffs=3g5 3fl+3ft=3g6 3fl+3fy=3g7 3fn+3ft=3g8 3fn+3fx=3g9 3fp+3ft=3ga 3fp+3fy=3gb 3fp+9oc=3gc 3fr+3ft=3gd
3fr+3fy=3ge 3ft+3fp=3gf 3ft+3fp+ffs=3gg 3ft+3fr+ffs=3gh 3ft+3ft=3gi 3ft+3fy=3gj 3fx+3fn=3gk,2
3fx+3fn+ffs=3gl 3fx+3ft=3gn 3fx+ffs=3go 3fy+3fl=3gp 3fy+3fl+ffs=3gq 3fy+3fp+9oc=3gr 3fy+3fr+ffs=3gs
3fy+3fy=3gt 3g2+3fl=3gu 3g2+3fp=3gv 3g2+3fp+ffs=3gw 3g2+3fr=3gx 3g2+3fr+ffs=3gy 3g2+3fy=3gz 3g2+ffs=3h0
9oc+3fy=3h1 9oc+9oc=3h2 9oc+ffs+3fy=3h3 ffs+3fl=3h4 ffs+3fn=3h5 ffs+3ft=3h6 ffs+3fy=3h7 ffs+9oc=3h8
ffs+3ha=3h9 3ha+3fp=3hb 3ha+3fy=3hc 3ha+ffs=3hd 3ha+3ha=3he 3fl+9oc=3hf 3fn+3fy=3hg 3fr+3fn=3hh 3ft+3fn=3hi
3ft+3fn+ffs=3hj 3cw=3hk 3cw+3d5=3hm 3cy=3hn 3cz=3hq 3d1=3hr 3d1+3cw=3hs,tys 3d1+3d2=3ht,tyv 3d1+3d3=3hu,tyv
3d1+3d5=3hv,tyx 3d1+3dc=3hw 3d1+3dd=3hx 3d2=3hz 3d3=3i0 3d5=3i2 3d7=3i4 3d8=3i5 3da=3i6 3db=3i7 3dc=3i8
3dd=3i9 3de=3ia 3cw+3d1=3ib 3cw+3d5+3cw=3ic 3cy+3eo=3ig 3cy+3dc=3ih 3d1+3cw+3d5=3ik 3d1+3cz=3im,ty0
3d1+3cz+3de=3in 3d1+3d2+3cw=3ip 3d1+3d2+3d5=3iq 3d1+3d3+3d5=3ir 3d1+3d3+3de=3is 3d1+3d3+3d7=3it,txy
3d1+3d5+3d5=3iu 3d1+3eo=3iv 3d1+3db=3iw,txy 3d1+3fd=3ix 3d2+3cw=3iy,txx 3d2+3d1=3iz 3d2+3d5=3j1,txw
3d2+3d5+3d5=3j2 3d2+3eo=3j3 3d2+3da=3j4 3d2+3de=3j5 3d3+3d1=3j7 3d3+3de=3j9,txr 3eo=3jf 3d7+3cw+3cw=3jh
3d7+3db=3jj 3f0=3jk 3de+3cy=3jp 3de+3d1=3jq 3de+3d2=3jr 3de+3d3=3js 3fd=3jt 3cw+3cy=3ju 3cw+3d3=3jv
3cw+3da=3jw 3cw+3db=3jx 3cw+3de=3jy 12p=3o4 33+13=3vo bv=3wf 1g=3wu,1fj5 53+3y9=3yk 3y9+53=3yl 53+61r=3ym
61r+53=3yn 53+3yc=3yo 3yc+53=3yp 53+3yd=3yq 3yd+53=3yr 53+3ye=3ys 3ye+53=3yt 53+3yi=3yv 3yi+53=3yw
53+3yj=3yx 3yj+53=3yy 53=3zb,t48 3y9+3z4=3zf 61r+3z4=3zg 3yd+3z4=3zh 3yi+3z4=3zi 1q=3zn,1wjw 53+1q=3zr,9
1o=3zs,hm 53+3a=3zu 3a+53=3zv 53+i4=3zw i4+53=3zx 53+3zm=3zy 3zm+53=3zz 1q+53=401 53+3zo=402 3zo+53=403
53+1o=404 1o+53=405,4tr 53+3zt=406 3zt+53=407 53+40g=40k,9 53+39=40n 39+53=40o 53+32=40p 32+53=40q
53+40f=40r 40f+53=40s 40g+53=40u 53+40h=40v 40h+53=40w 53+40l=40x 40l+53=40y 53+40m=40z 40m+53=410 39+13=413
32+13=414 40g+13=415 40l+13=416 2q+lj=41f 53+417=41g 417+53=41h 53+34=41i 34+53=41j 53+41a=41k 41a+53=41l
53+2s=41m 2s+53=41n 53+41c=41o 41c+53=41p 53+2q=41q 2q+53=41r 53+2q+lj=41s 2q+lj+53=41t 417+13=41x 34+13=41y
2s+13=41z 2q+13=420 53+421=42a 421+53=42b 53+423=42c 423+53=42d 53+424=42e 424+53=42f 53+2y=42g 2y+53=42h
53+426=42i 426+53=42j 53+428=42k 428+53=42l 53+429=42m 429+53=42n 53+42r=430 42r+53=431 53+3d=432 3d+53=433
53+42u=434 42u+53=435 53+42v=436 42v+53=437 53+42w=438 42w+53=439 53+30=43a 30+53=43b 53+42z=43c 42z+53=43d
53+43k=43t 43k+53=43u 53+43r=43v 43r+53=43w 53+43s=43x 43s+53=43y 3z5=441 53+443=44c 443+53=44d 53+445=44e
445+53=44f 53+446=44g 446+53=44h 53+447=44i 447+53=44j 53+448=44k 448+53=44l 53+44a=44m 44a+53=44n
53+44b=44o 44b+53=44p 53+44t=452 44t+53=453 53+44v=454 44v+53=455 53+44w=456 44w+53=457 53+44x=458
44x+53=459 53+44y=45a 44y+53=45b 53+450=45c 450+53=45d 53+451=45e 451+53=45f 45n+1o=45o 45n+40l=45p
45n+2q=45q 45n+428=45r 53+45s=45z 45s+53=460 53+45t=461 45t+53=462 53+45u=463 45u+53=464 53+45v=465
45v+53=466 53+45w=467 45w+53=468 53+45x=469 45x+53=46a 53+45y=46b 45y+53=46c 53+1g=46n 1g+53=46o 53+46g=46p
46g+53=46q 53+46h=46r 46h+53=46s 53+46i=46t 46i+53=46u 53+46j=46v 46j+53=46w 53+46l=46x 46l+53=46y
53+46m=46z 46m+53=470 3zd=474 53+47g=47i 47g+53=47j 53+47u=47v 47u+53=47w 53+487=488 487+53=489 47k+418=48u
47k+34=48v 47k+41a=48w 47k+2s=48x 47k+41c=48y 47k+2q=48z 47k+2q+lj=490 47k+41v=491 49h+422=49a 49h+423=49b
49h+424=49c 49h+2y=49d 49h+426=49e 49h+428=49f 49h+429=49g 6ku=4ad,sa1 x6j=4af gg=4as,sa3 428=4ci 421=4cj
443=4ck 44a=4cn 477=4de 47a=4df 47e=4dg i2=4dq,6 qx=4dr,6,4fw,o0s,a2,hz3 47k+417=4fj 49h+421=4fk 49i+423=4fl
49i+424=4fm 49i+2y=4fn 49i+426=4fo 49i+428=4fp 49i+429=4fq 49z+53=4fr 4a0+53=4fs 4a1+53=4ft 4a2+53=4fu
4a3+53=4fv 4a4+53=4fw 4a5+53=4fx 4hp=4hu 4ho=4ip 4o2=4o3 2t0=4on 2t1=4oo 2t2=4op 2t3=4oq 4s5=4t1 4t8=4uu
53+4vl=4vn 53+4vo=4vq 53+4vs=4vt 53+4w0=4w2 53+43m=4w6 43m+53=4w7 53+43n=4w8 43n+53=4w9 53+43o=4wa
43o+53=4wb 53+43p=4wc 43p+53=4wd 53+477=4we 53+47a=4wf 53+47b=4wg 53+47c=4wh 53+47d=4wi 53+47f=4wj 4xh=4wr
4wv+3z2=4ws 3z2+4wv=4wt 477+53=4ww 47y+53=4wz 486+53=4x0 48b+53=4x1 492+53=4x4 49j+53=4x6 3b+53=4x9
4c4+53=4xc 4d7+53=4xe 526=53k 52p=53l 56t=58g,g 1cr=59w,17r 5cd=5ea 5ch=5eb 5d4=5eg mj=5p1 mm=5p4 ml=5p5
lq=5p6 ly=5pp d9+33=5qs 5qw=5rd,s5l u3=5rf 39+2t=5t7 2u+ms=5ta 36+32+ms=5tb 32+ms=5tc 36+ms=5te hq+ms=5tf
37+ms=5tg 38+ms=5th 3e+ms=5ti 34+mt=5tp i2+mt=5tr gb=5u8 92k=5wu qj=8t2,16px qv=8tp,p0m,2 19=8u2 ug=8u5
1b=8ue,od,4b,5td in=8up,p25,hhx rx=8v0 rb=8v8 53+53+53=8y0 ig=8yh,nwv,imz 4j3=8yr 5wf=92g o8=92l of=92n
o3=92u o4=92v ll=9ik 7sc=9jj,2pw9 fjv=9lw ijp=9m0 gbf=9m3 hlh=9mn ggs=9mw fik=9mz g2z=9n3 9ko=9nc
gkj=9nx,7hm app=beb ako=dcr bp7=dgg 2k=fg6 fp1=fsy ftw=fuk gur=gv3 hgh=hgr h7j=hkb hij=hkv hwv=hz4 ild=ilu
bp6=imo jee=jeg bi9=jrd cov=k83 k7u=k89 bmi=kc6 dhf=kdi kfi=kjj bs3=kx5 kv1=kyv lu0=lzt npw=nrj or9=os6
kcs=peu kcw=pfu kcv=pg0 bp1=ph2 kcz=phd kd4=pif ph8=pj5 kdf=plz q6l=qbj qif=qip dyu=ra6 ram=rct rk6=rkf
rq4=rqb ry7=rye s11=s1m s5z=s63 s8v=s9z slq=sm6 t65=t66 trr=trs v9e=v9f vdd=vde cop=vk3 4f4=wkt 4bl=wl3
18=wl5 1a+1a=wl6 1a+18=wl7 jt+2q+30=wuo jt+2q+2x=wup 6i1=wvj 33+33=wwp,52 1f3c=wwq 4hl=wxc ip=wy5 38+1f=x0o
38+f1=x0p 2p+2p=x0z 2p+33=x11 2p+39=x13 2p+3a=x15,2 2p+3d=x19 3b+me=x29 38+2u=x2v 12=x2w x0n=x3p 1fei=x3v
ii=x3x,ia5 wkk=x3y wk5=x4h 1us=x80 3cz+3d2=xgg 3cz+3d3=xgh,966 3cz+3d5=xgi,966 3cz+3d8=xgj,967
3d1+3cw+3cw=xgl,968 3d1+3cz+3cz=xgn 3d1+3d3+3d3=xgq 3d1+3d8=xgt 3d2+3cz=xgw 3d3+3d5+3dc=xgy 3d3+3db=xgz
3d5+3d5+3d3=xh1 3d7+3d1=xh2 3d7+3de=xh3 3d8+3d8+3de=xh4 3dc+3dc=xh5 3dd+3de=xh6 3de+3d5=xh7 3fd+3fd=xh8
8qn=xhu xi5=xib xkx=xn7 xlv=xna gk+mw=xtr d9+33+mw=xtt d9+33+mt=xtu ux=xuo gk+2t=xuq 39+33=xur 5qd=xv4
hs=xv5,1d 33+m3=xv8 5q8=xve 5qi=xvf 5qf=xvg g2=xvi 3ft+3fr=16ls 3ft+3ft+ffs=16lt 3fx+3fl=16lu
3fx+3fl+ffs=16lv 3fx+3fp=16lw 3fy+3fr=16lx 3fy+ffs+ffs=16ly 3g2+3fl+ffs=16lz 3g2+3ft=16m0 9oc+3fl=16m1
9oc+3fp=16m2 9oc+3fp+ffs=16m3 9oc+3ft=16m4 ffs+3fn+3ft=16m5 ffs+3fn+ffs=16m6 ffs+3fr=16m7 ffs+3fr+ffs=16m8
ffs+3ft+ffs=16m9 ffs+3fx=16ma ffs+3g2=16mb ffs+ffs=16mc 3ha+3fl=16md 3ha+3fp+ffs=16me 3cy+3d1=16mj
3cy+3da=16mk 3cz+3cz+3d3=16mm 3cz+3d5+3cw=16mp 3cz+3da=16mr 3cz+3dc=16ms 3d1+3cw+3de=16mu 3d1+3d1+3db=16mv
3d1+3d2+3de=16mw 3d1+3d3+3cz=16mx 3d1+3d3+3dd=16my 3d1+3f0=16mz 3d1+3fd+3de=16n0 3d2+3cy=16n2
3d2+3cy+3cy=16n3 3d2+3d2=16n4 3d2+3d3+3d5=16n5 3d2+3d8=16n6 3d3+3d1+3dd=16n8 3d3+3d2=16n9 3d5+3d3+3d7=16nf
3d5+3d5+3cw=16ng 3d5+3d5+3cz=16nh 3d5+3eo=16ni 3eo+3d3=16nn 3eo+3d3+3d7=16no 3f0+3d2=16np 3f0+3de=16nq
3d8+3d3=16nr 3d8+3d3+3d3=16ns 3dd+3d5=16nu 3dd+3dc=16nv 4ik=1f2s,4df 17=1f2z rd=1f3h,2t 8xs=1f3s 17z=1f4x
187=1f54 185=1f5e 16=1f6n 1f9e=1fbl 1f9v=1fbn wl2=1fdd,l5h gi=1fdr hj=1fen gu=1feq 1fgm=1fhc xw=1fi4
4iu=1fio 1j=1fiq,3xw wvd=1fjf 1h45=1h4q 1h36=1h4s 1tm=1i2z xdn=1i3g 1ik4+1iki+1ij6=1ij7 1ik4+1iki+1ijc=1ijd
1ik4+1iki+1ijn=1ijo 1ik4+1iki+1ijt=1iju 1ik4+1iki+1ijw=1ijx 1ik4+1iki+1ijy=1ijz 1w8=1imq 1wa=1ims 1wc=1imu
1we=1imw 1wf=1imx 1wh=1imz 1wy=1in1 1wk=1in2 1wl=1in3 1wm=1in4 1wn=1in5 1wo=1in6 1wq=1in7 1wu=1inb 1wv=1inc
1ws=1ind 1wj=1ine 1ww=1inf 1x3=1inh 1x4=1ini 1xa=1ink 1xb=1inl 1xj=1int 1xz=1inx 1xp=1io2 1x9=1io4
3b+lj=1io5 1yf=1ioh 1yg=1ioi 1yk=1iom 1ite=1ivs,1 1itf=1ivu 1itg=1ivv 1iuq=1ivw 1iur=1ivx 6pz=1jfs
1jvp+1jvz=1jvq 1jvp+1jw0=1jvr 1jvp+1jvp=1jvs 1jvp+1jvp+1jvz=1jvt 1jvp+1jvp+1jw0=1jvu 1jvv+1jvz=1jvw
1jvv+1jvv=1jvx 1jvv+1jvv+1jvz=1jvy 1jw3+1jvz=1jw4 1jw3+1jw0=1jw5 1jw3+1jw3=1jw6 1jw3+1jw3+1jvz=1jw7
1jw3+1jw3+1jw0=1jw8 1k8a=1k8i 1fa2=1kxk 1ggu=1omx wux=20ik 6qo=2ojs 6pu=2ojw`

/** UTS-39 identifier status "Allowed": first and last of each range, each as the distance from the number before. */
export const ALLOWED = `
1c 9 8 p 7 p 1y m 2 u 2 1l 3 a 3 7 2 1g h 0 h 1 e 1 t f 2 5 3 a 4 1 3 z 3 1 7 d 12 0 2q 1 1c 0 k 4 2 6 3 2 2
1 7 0 8 5 5 1 2 1 4 0 3 1 9 0 3 0 1i 2 9 0 2 2 2 0 2 j 2 17 1a 2r 17 39 h p 5 1 2 11 3 0 8 11 1a 0 s q 5 3
1a v 2 k b 9 7 2 2 0 5 k 2 h 2 1d 2 0 g 1 8 e 3 0 29 2p 5b n 2 5 i c 6 0 3 k 1k 24 2 1 6 1 9 3 3 9 2 6 2 6 2
2 2 7 3 1 3 l 2 6 2 0 4 3 3 8 3 1 3 3 9 0 9 3 3 b d 0 3 2 2 5 5 1 3 l 2 6 2 0 3 0 3 1 3 0 2 4 5 1 3 2 f 0 a
e d 2 2 8 2 2 2 l 2 6 2 1 2 4 3 9 2 2 2 2 3 0 g 3 3 9 b 5 2 2 2 7 3 1 3 l 2 6 2 1 2 4 3 7 4 1 3 2 8 2 8 2 5
9 2 0 h 1 2 5 4 2 2 3 4 1 2 0 2 1 4 1 4 2 4 b 5 4 4 2 2 3 3 0 7 0 f 9 i b 2 2 2 m 2 9 2 4 3 8 2 2 2 3 8 1 7
0 3 1 5 9 h 0 2 1 2 7 2 2 2 m 2 9 2 4 3 8 2 2 2 3 8 1 7 0 3 3 3 9 2 2 d 0 2 1 2 7 2 2 2 14 3 6 3 2 2 4 6 3 9
1 5 9 b 5 3 1 2 9 3 5 4 b 2 a 2 8 2 0 3 6 4 0 5 5 2 0 2 6 k 0 f 1d 2 6 6 e 2 9 14 1 2 0 2 4 2 n 2 0 2 b 2 9
3 4 2 0 2 6 2 9 5 1 x 0 w 9 c 0 2 0 7 4 2 3 2 3 2 3 2 3 2 3 2 b 2 2 5 1 2 0 6 6 2 2 2 c 2 3 2 3 2 3 2 3 2 3
2 b 2 2 a 0 1m 21 7 25 16 0 6 0 3 w 7 3 3 2 75 20 2 3 3 6 2 0 2 3 3 14 2 3 3 w 2 3 3 6 2 0 2 3 3 e 2 1k 2 3
3 1u 3 2 x f s1 y 3 2 2 a 3 n 3 0 2 0 5 0 5 0 4 9 x3 16 3 2 8x 49 5 0 2 2h 7 l 3 5 3 11 3 5 3 7 2 0 2 0 2 0
2 h 2 0 2 0 2 0 2 0 2 0 2 0 4 1g 2 4 2 0 6 2 2 2 2 0 2 0 4 2 4 4 6 2 2 6 2 0 6 2 2 2 2 0 2 0 2ln 0 6 0 2b m
a 6 2 6 2 6 2 6 2 6 2 6 2 6 2 6 fb 2 1m 2d 3 1 3 1 3 2h 2 2 7 14 2 0 35 v g1 533 1t g73 1a8 0 48 8 2x 0 5 0
5 1 n 0 m a 6 1 2 0 2 4 em n 2q m 4 5 3m 5 3 5 3 5 a 6 2 6 1k 1 49 8mb 6sr 1 2 0 2 1 b 0 2 0 2 1 3 2 4wo 0 2
0 1k 1 ib8 1 cvi 3 g 0 u 2 3 0 f 3 909 u 7 5 9x 0 1g1 6 2 3 2 1 2 e 4qq wyn x 37d 7 65 3 4g1 f 5rk 3z4 3t6 6
38f`
